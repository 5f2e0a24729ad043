import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts';

/** Rows about what a conversation holds and its program reported. */
export const contentCommands = ({
  session,
  options,
  exits,
}: {
  readonly session: ArgumentSpec;
  readonly options: readonly OptionSpec[];
  readonly exits: NonNullable<CommandSpec['exits']>;
}): readonly CommandSpec[] => [
  {
    noun: 'session',
    verb: 'compact',
    summary: 'have the program sum up what was said, to make room in the model’s window',
    arguments: [session, { name: 'keep', required: false, summary: 'what the summary is to keep' }],
    options,
    examples: [{ line: 'orrery session compact site-1', does: 'after what it does now' }],
    exits,
    operations: ['turnAdd', 'turnList', 'sessionShow', 'sessionLog'],
    changes: 'once',
    load: async () => (await import('./send.ts')).sessionCompact,
  },
  {
    noun: 'session',
    verb: 'commands',
    summary: 'list commands that its program reported',
    arguments: [session],
    examples: [{ line: 'orrery session commands site-1', does: 'for session send --command' }],
    operations: ['sessionCommands'],
    load: async () => (await import('./commands.ts')).sessionCommandList,
  },
];
