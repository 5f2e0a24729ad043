import { closest, OrreryError } from '@orrery/protocol/errors';
import { version } from '@orrery/protocol/version';
import { commandHelp, mainHelp, nounHelp } from '../../help.ts';
import { manualMarkdown, manualPage } from '../../manual.ts';
import type { Command, CommandContext } from '../command.ts';

const helpOf = ({ input, table, screen }: CommandContext): string => {
  const noun = input.argument('noun');
  const verb = input.argument('verb');
  if (noun === null) return mainHelp(table, screen);
  const spec = table.find((row) =>
    verb === null ? row.noun === null && row.verb === noun : row.noun === noun && row.verb === verb,
  );
  if (spec !== undefined) return commandHelp(spec, screen);
  if (verb === null && table.some((row) => row.noun === noun)) return nounHelp(noun, table, screen);
  const known = table
    .filter((row) => row.hidden !== true)
    .map((row) => (verb === null ? (row.noun ?? row.verb) : row.noun === noun ? row.verb : ''));
  const guess = closest(verb ?? noun, known);
  throw new OrreryError('unknown_command', 'There is no such command.', {
    rule: guess === null ? 'Every command is in: orrery help' : `Did you mean "${guess}"?`,
    fix: guess === null ? 'orrery help' : `orrery help ${verb === null ? '' : `${noun} `}${guess}`,
  });
};

/** `orrery help`: one command, or the whole manual. */
export const help: Command = async (context) => {
  const { input, table } = context;
  const text = input.flag('man') ? manualPage(table, version) : input.flag('markdown') ? manualMarkdown(table) : helpOf(context);
  return { result: { text }, text };
};
