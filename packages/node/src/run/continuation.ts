// What an attempt of a task that continues another begins with.

import { OrreryError } from '@orrery/protocol';
import { attemptsOf, findTask, type AttemptRow, type TaskRow } from '../task/index.ts';
import type { AttemptContext, Continued, Prepared } from './attempt-context.ts';
import { isConversationKept } from './conversation.ts';

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
export const predecessorOf = async (context: AttemptContext): Promise<Predecessor | null> => {
  const { parts, task } = context;
  if (task.continues === null) return null;
  const before = await findTask(parts.store.read, task.continues);
  const attempts = await attemptsOf(parts.store.read, task.continues);
  const spoken = attempts.findLast(({ conversation }) => conversation !== null);
  const attempt = spoken ?? attempts.at(-1);
  const prepared = preparedOf(attempt);
  const conversation = before === null ? null : await conversationOf(context, before, spoken);
  if (before === null || prepared?.baseSha == null || (conversation === null && task.series === null))
    throw new OrreryError('not_found', `The task ${task.continues} left nothing to go on with.`, {
      rule: 'A conversation goes on from what its task left.',
      fix: `orrery task show ${task.continues}`,
    });
  const { sha, what } = await leftBy(context, before, prepared.baseSha);
  const anew = conversation === null ? ', in a new conversation' : '';
  return {
    sha,
    rulesSha: prepared.rulesSha ?? prepared.baseSha,
    continued: { taskId: before.id, conversation, from: `continues ${before.id} from ${what}${anew}` },
  };
};

/** The conversation that goes on. In a series one of another program, or that is not kept, does not, and a new one begins. */
const conversationOf = async (
  { parts, task }: AttemptContext,
  before: TaskRow,
  spoken: AttemptRow | undefined,
): Promise<string | null> => {
  const goesOn = before.harness === task.harness && isConversationKept(parts.conversationsDirectory, before.id);
  return task.series === null || goesOn ? (spoken?.conversation ?? null) : null;
};

const leftBy = async (
  { parts }: AttemptContext,
  before: TaskRow,
  baseSha: string,
): Promise<{ readonly sha: string; readonly what: string }> => {
  const result =
    before.result === null ? null : (JSON.parse(before.result) as { headSha: string | null; resultRef: string | null });
  if (result?.headSha != null)
    return { sha: result.headSha, what: `its result (${result.resultRef ?? result.headSha.slice(0, 12)})` };
  const saved = await parts.workspace.salvageOf(before.id);
  return saved === null
    ? { sha: baseSha, what: 'its base: it left no result' }
    : { sha: saved.sha, what: `what was saved of it (${saved.ref})` };
};
