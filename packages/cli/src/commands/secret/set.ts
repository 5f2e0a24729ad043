import { OrreryError } from '@orrery/protocol/errors';
import type { Command, CommandContext } from '../command.ts';

/** Longest secret, characters. */
const LONGEST_SECRET = 65_536;

/** The value, from standard input or asked for without echo; never an argument. */
const readSecret = async ({ world }: CommandContext, name: string): Promise<string> => {
  const text = world.stdin.isTTY ? await world.stdin.readHidden(`Value of ${name} (not shown): `) : await world.stdin.read();
  const value = text.replace(/\r?\n$/, '');
  if (value === '')
    throw new OrreryError('empty_input', 'The secret is empty.', {
      rule: 'Its value comes from standard input.',
      fix: `orrery secret set ${name} < FILE`,
    });
  if (value.length > LONGEST_SECRET)
    throw new OrreryError('input_too_large', 'The secret is too long.', {
      rule: `A secret has at most ${LONGEST_SECRET} characters.`,
    });
  return value;
};

/** `orrery secret set`. */
export const secretSet: Command = async (context) => {
  const name = context.input.argument('name') ?? '';
  const value = await readSecret(context, name);
  const line = await context.world.processes.callNode({ args: ['secret', 'set', name, ...context.nodeArguments], input: value });
  return {
    result: line['result'] ?? { name },
    text: `${context.screen.good('✓')} ${name} is stored; refer to it as secret:${name}`,
  };
};
