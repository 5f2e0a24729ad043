import type { OpenAttempt } from '../attempt-context.ts';
import { runHook } from './hook.ts';

/** What the repository's own script said of this round; `passed` also when it has none. */
export const validate = async (
  open: OpenAttempt,
  round: number,
): Promise<{ readonly passed: boolean; readonly ran: boolean; readonly output: string }> => {
  const { end, ran } = await runHook(open, 'validation', { stage: 'validate', round });
  open.journal.onceDurable(() => open.parts.atKillPoint('validated', 'validate'));
  return { passed: end.state === 'passed' || end.state === 'skipped', ran, output: end.output ?? '' };
};

/** The prompt that sends the agent back with what the script said. */
export const retryPrompt = (template: string, output: string): string =>
  template.replaceAll('{{validation_output}}', () => output);
