import { checkGoing, type OpenAttempt } from './attempt-context.ts';
import type { FailedCheck } from './ending.ts';
import { checkGoal } from './stages/goal.ts';
import { checkOutput } from './stages/output.ts';
import { retryPrompt, validate } from './stages/validate.ts';

/** Holds what a turn made against everything that it must pass: its answer, the repository's own script, its goal. Null: it passed. */
export const checkTurn = async (open: OpenAttempt, round: number): Promise<FailedCheck | null> =>
  (await checkOutput(open, round)) ?? (await checkByScript(open, round)) ?? (await checkGoal(open, round));

const checkByScript = async (open: OpenAttempt, round: number): Promise<FailedCheck | null> => {
  const { passed, output, ending } = await validate(open, round);
  checkGoing(open);
  return passed ? null : { prompt: retryPrompt(open.prepared.settings.retryPrompt, output), ending };
};
