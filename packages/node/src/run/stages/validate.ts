import type { Ending } from '../../task/index.ts';
import type { OpenAttempt, StageEnd } from '../attempt-context.ts';
import { limitIn } from '../limit-text.ts';
import { runHook } from './hook.ts';

/** What the repository's own script said of a round. */
export type Validation = {
  /** Also when there is none. */
  readonly passed: boolean;
  /** What the agent is told when it did not pass. */
  readonly output: string;
  /** How the attempt ends when the agent is not sent back any more. */
  readonly ending: Ending;
};

/** Runs the repository's own script on what a turn made. */
export const validate = async (open: OpenAttempt, round: number): Promise<Validation> => {
  const { end } = await runHook(open, 'validation', { stage: 'validate', round });
  open.journal.onceDurable(() => open.parts.atKillPoint('validated', 'validate'));
  const output = end.output ?? '';
  return {
    passed: end.state === 'passed' || end.state === 'skipped',
    output: stopped(end) ? `${output.trimEnd()}\nvalidation.sh ${end.note ?? 'was stopped'}\n`.trimStart() : output,
    ending: endingOf(end, round),
  };
};

const stopped = (end: StageEnd): boolean => end.state === 'timeout' || limitIn(end.note) !== null;

/** A script that was stopped by a bound did not judge the work: the bound is what the attempt ends by. */
const endingOf = (end: StageEnd, round: number): Ending => {
  const last = `validation.sh ${end.note ?? end.state}`;
  if (end.state === 'timeout') return { verdict: 'failed', cause: 'timeout', reason: last };
  const limit = limitIn(end.note);
  if (limit !== null) return { verdict: 'limit', cause: limit, reason: last };
  const turns = `${round} ${round === 1 ? 'turn' : 'turns'}`;
  return { verdict: 'rejected', cause: null, reason: `validation.sh still fails after ${turns}.` };
};

/** The prompt that sends the agent back with what the script said. */
export const retryPrompt = (template: string, output: string): string =>
  template.replaceAll('{{validation_output}}', () => output);
