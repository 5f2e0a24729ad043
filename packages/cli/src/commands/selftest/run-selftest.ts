import type { DoctorReport } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { findingsText } from '../node/doctor.ts';
import { countText } from '../../wording.ts';
import type { CommandContext, Outcome } from '../command.ts';

type Finding = DoctorReport['lines'][number];

/** Findings come one by one: the first column is as wide as the usual names. */
const AREA_WIDTH = 24;

const isFinding = (value: unknown): value is Finding =>
  typeof value === 'object' &&
  value !== null &&
  'area' in value &&
  typeof value.area === 'string' &&
  'message' in value &&
  typeof value.message === 'string' &&
  'state' in value &&
  ['ok', 'warning', 'problem'].includes(String(value.state));

/** Runs a test of the node's program on this machine, shows each finding as it comes, and ends with 10 for a problem. */
export const runSelftest = async (context: CommandContext, name: string): Promise<Outcome> => {
  const backend = context.input.text('backend');
  const findings: Finding[] = [];
  context.note(`  Trying it on this machine: ${name}`);
  const onLine = (line: Readonly<Record<string, unknown>>): void => {
    const finding = line['line'];
    if (!isFinding(finding)) return;
    findings.push(finding);
    context.data({ text: findingsText(context.screen, [{ ...finding, fix: finding.fix ?? null }], AREA_WIDTH), json: finding });
  };
  const last = await context.world.processes.callNode({
    args: ['selftest', name, ...context.nodeArguments, ...(backend === null ? [] : ['--backend', backend])],
    onLine,
  });
  if (findings.length === 0)
    throw new OrreryError('internal', 'The test tried nothing.', {
      rule: 'A test that tries nothing proves nothing.',
      fix: 'orrery doctor',
    });
  const problems = findings.filter(({ state }) => state === 'problem');
  const result = { findings, ...(typeof last['result'] === 'object' ? last['result'] : {}) };
  const hints = [`  ${countText(findings.length, 'probe')}, ${countText(problems.length, 'problem')}.`];
  if (problems.length === 0) return { result, hints };
  const error = new OrreryError(
    'guarantee_missing',
    `${countText(problems.length, 'probe')} of ${findings.length} found a problem.`,
    { rule: 'What is not held is not claimed.', fix: problems[0]?.fix ?? 'orrery doctor', details: result },
  );
  return { result, hints, failure: { error, exit: 10 } };
};
