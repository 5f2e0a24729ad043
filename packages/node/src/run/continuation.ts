// What an attempt of a task that continues another begins with.

import { OrreryError } from '@orrery/protocol';
import { attemptsOf, findTask, type AttemptRow } from '../task/index.ts';
import type { AttemptContext, Continued, Prepared } from './attempt-context.ts';

/** What the predecessor left. */
export type Predecessor = {
  readonly continued: Continued;
  /** The commit to begin at. */
  readonly sha: string;
  /** The commit whose hooks and settings hold: that of the first task of the chain, which no agent has written. */
  readonly rulesSha: string;
};

const preparedOf = (attempt: AttemptRow | undefined): Prepared | null =>
  attempt === undefined ? null : ((JSON.parse(attempt.progress) as { prepared?: Prepared }).prepared ?? null);

/** What the task that this one continues left, or null when it continues none. */
export const predecessorOf = async ({ parts, task }: AttemptContext): Promise<Predecessor | null> => {
  if (task.continues === null) return null;
  const before = await findTask(parts.store.read, task.continues);
  const attempt = (await attemptsOf(parts.store.read, task.continues)).findLast(({ conversation }) => conversation !== null);
  const prepared = preparedOf(attempt);
  if (before === null || attempt?.conversation == null || prepared?.baseSha == null)
    throw new OrreryError('not_found', `The task ${task.continues} left nothing to go on with.`, {
      rule: 'A conversation goes on from what its task left.',
      fix: `orrery task show ${task.continues}`,
    });
  const result =
    before.result === null ? null : (JSON.parse(before.result) as { headSha: string | null; resultRef: string | null });
  const salvaged = result?.headSha == null ? await parts.workspace.salvageOf(before.id) : null;
  const [sha, what] =
    result?.headSha != null
      ? [result.headSha, `its result (${result.resultRef ?? result.headSha.slice(0, 12)})`]
      : salvaged === null
        ? [prepared.baseSha, 'its base: it left no result']
        : [salvaged.sha, `what was saved of it (${salvaged.ref})`];
  return {
    sha,
    rulesSha: prepared.rulesSha ?? prepared.baseSha,
    continued: { taskId: before.id, conversation: attempt.conversation, from: `continues ${before.id} from ${what}` },
  };
};
