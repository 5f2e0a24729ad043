// The rule that would allow just what is asked, shown in a chat and added by the key of a person who has seen it.

import { inertLine } from '../../inert.ts';
import type { CommandContext } from '../command.ts';
import { cutCells, visible } from './cells.ts';
import type { NodeLink } from './node-link.ts';
import type { Effect, ShownRule } from './state.ts';
import type { Item } from './transcript.ts';

type At = { readonly link: Pick<NodeLink, 'client'>; readonly context: CommandContext };
type Shown = { readonly lines: readonly string[]; readonly rule: ShownRule | null };

/** Its text and its file, with the key that adds it; or why there is none. */
export const ruleLines = async (
  { link, context }: At,
  { interaction, revision }: Extract<Effect, { kind: 'rule' }>,
): Promise<Shown> => {
  const { rule, why } = await link.client().call('policyPropose', { params: { id: interaction } });
  if (rule === null)
    return { lines: ['', cutCells(`  There is no rule for it. ${visible(why ?? '')}`, context.world.stdout.columns)], rule };
  const { name, yaml } = rule;
  const text = yaml.trimEnd().split('\n');
  return {
    lines: [
      '',
      '  This rule would allow just that from now on:',
      ...text.map((line) => `    ${visible(line)}`),
      `  A adds it to ${visible(rule.file)}, and allows it once. On another terminal:`,
      `    orrery policy propose ${visible(interaction)} --add`,
    ],
    rule: { interaction, revision, name, yaml },
  };
};

/** Adds the very rule that was shown. */
export const addRule = async (
  { link, context }: At,
  { interaction, revision, name, yaml }: Extract<Effect, { kind: 'add-rule' }>,
): Promise<Item> => {
  const { rule } = await context.change({
    intent: { interaction, rule: name },
    send: () => link.client().call('policyAdd', { params: { id: interaction }, body: { revision, yaml } }),
    resources: (added) => [added.interaction.id],
  });
  return { kind: 'notice', level: 'info', text: `The rule ${inertLine(rule.name)} is in ${inertLine(rule.file)}.` };
};
