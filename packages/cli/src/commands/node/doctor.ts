import type { DoctorReport } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import type { Screen } from '../../screen.ts';
import { countText } from '../../wording.ts';
import type { Command } from '../command.ts';

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

/** `orrery doctor`: a problem ends with 1. */
export const doctor: Command = async (context) => {
  const { client } = await context.connect();
  const report = await client.call('nodeDoctor', { timeoutMs: 120_000 });
  const problems = report.lines.filter(({ state }) => state === 'problem');
  const warnings = report.lines.filter(({ state }) => state === 'warning');
  const text = findingsText(context.screen, report.lines);
  const count = `${countText(problems.length, 'problem')}, ${countText(warnings.length, 'warning')}.`;
  if (problems.length === 0) return { result: report, text, hints: [`  ${count}`] };
  const error = new OrreryError('backend_unavailable', `The node has ${countText(problems.length, 'problem')}.`, {
    fix: problems[0]?.fix ?? undefined,
    details: { ...report },
  });
  return { result: report, text, hints: [`  ${count}`], failure: { error, exit: 1 } };
};
