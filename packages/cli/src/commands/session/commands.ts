import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** Where a catalogue is from, for people. */
export const sourceText = (
  { provenance, reportedAt }: { readonly provenance: string; readonly reportedAt: string | null },
  nowMs: number,
): string => {
  if (reportedAt === null) return 'The program has reported nothing yet: it does when a session of it begins.';
  const age = agoText(reportedAt, nowMs);
  if (provenance === 'live') return `Reported by a program that runs, ${age}.`;
  return provenance === 'cached' ? `Reported ${age}.` : `Reported ${age} by another version of the program.`;
};

/** `orrery session commands`. */
export const sessionCommandList: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('session') ?? '';
  const reported = await client.call('sessionCommands', { params: { id } });
  const source = sourceText(reported, context.world.now());
  if (reported.commands.length === 0) return { result: reported, text: `It has no commands. ${source}` };
  const rows = reported.commands.map(({ name, description }) => [`  /${inertLine(name)}`, inertLine(description)]);
  return {
    result: reported,
    text: tableText(context.screen, ['  command', 'what it does'], rows),
    hints: [`  ${source}`, `  orrery session send ${id} --command ${reported.commands[0]?.name ?? 'NAME'}`],
  };
};
