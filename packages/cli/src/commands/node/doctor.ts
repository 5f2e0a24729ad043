import type { DoctorReport } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import type { Screen } from '../../screen.ts';
import { countText } from '../../wording.ts';
import type { Command, CommandContext } from '../command.ts';

/** Lines of findings: what `doctor` and `selftest` show. `narrowest`: width of the first column at least. */
export const findingsText = (screen: Screen, lines: DoctorReport['lines'], narrowest = 0): string => {
  const width = Math.max(narrowest, ...lines.map(({ area }) => area.length));
  const marks = { ok: screen.good('✓'), warning: screen.careful('!'), problem: screen.bad('✗') };
  return lines
    .map(({ area, state, message, fix }) =>
      [
        `${marks[state]} ${area.padEnd(width)}  ${inertLine(message)}`,
        ...(fix === null || state === 'ok' ? [] : [`  ${' '.repeat(width)}  ${inertLine(fix)}`]),
      ].join('\n'),
    )
    .join('\n');
};

/** Asks the running node; without one the node's program looks at the machine by itself. */
const examine = async (context: CommandContext): Promise<DoctorReport> => {
  try {
    const { client } = await context.connect();
    return await client.call('nodeDoctor', { timeoutMs: 120_000 });
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || thrown.code !== 'node_not_running') throw thrown;
    const { result } = await context.world.processes.callNode({ args: ['doctor', ...context.nodeArguments] });
    const { doctorReport } = await import('@orrery/protocol');
    return doctorReport.parse(result);
  }
};

/** `orrery doctor`: a problem ends with 1. */
export const doctor: Command = async (context) => {
  const report = await examine(context);
  const problems = report.lines.filter(({ state }) => state === 'problem');
  const warnings = report.lines.filter(({ state }) => state === 'warning');
  const text = findingsText(context.screen, report.lines);
  const count = `${countText(problems.length, 'problem')}, ${countText(warnings.length, 'warning')}.`;
  if (problems.length === 0) return { result: report, text, hints: [`  ${count}`] };
  const error = new OrreryError(
    'backend_unavailable',
    `There ${problems.length === 1 ? 'is' : 'are'} ${countText(problems.length, 'problem')}.`,
    {
      fix: problems[0]?.fix ?? undefined,
      details: { ...report },
    },
  );
  return { result: report, text, hints: [`  ${count}`], failure: { error, exit: 1 } };
};
