import type { NamedScript } from '@orrery/scripted-model';
import { pairLine, pairs } from './files.ts';

/** Opening words of the demo's prompt; the scripted model knows its part by them. */
export const demoMarker = 'orrery demo';

const usage = (input: number, output: number): { usage: { input: number; output: number; cached: number } } => ({
  usage: { input, output, cached: 0 },
});

/**
 * What the scripted model answers in the demo. It plays a model that repairs the one case it was shown, is sent back by
 * the repository's own script, and then repairs them all. Everything it asks for is really done by a real program.
 */
export const demoScript: NamedScript = {
  marker: demoMarker,
  perConversation: true,
  steps: [
    { text: 'First I run the tests to see what fails.', shell: 'sh test.sh', ...usage(1900, 60) },
    {
      text: 'The numeral for 4 is wrong: the program has no pair for it. I add one.',
      edit: { path: 'roman.sh', old: pairLine(pairs.broken), new: pairLine(pairs.halfFixed) },
      ...usage(2300, 140),
    },
    { text: '4 is IV now.', ...usage(2500, 20) },
    {
      text: 'The script is right: 9, 40 and 1994 need subtractive pairs as well. I add all of them.',
      edit: { path: 'roman.sh', old: pairLine(pairs.halfFixed), new: pairLine(pairs.fixed) },
      ...usage(3100, 170),
    },
    { text: 'I run the tests again before I say that it is done.', shell: 'sh test.sh', ...usage(3400, 40) },
    { text: 'Every subtractive pair is there, and all tests pass.', ...usage(3700, 30) },
  ],
};
