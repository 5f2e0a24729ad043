// What waits for a person beside what agents ask: what went wrong, and what is to be looked at. Pure.

import type { SessionView, Task } from '@orrery/protocol';

/** Older things are found in their lists. */
const SHOWN_MS = 7 * 86_400_000;

/** A line of the Inbox. `key` changes when there is something new to it. */
export type Waits = {
  readonly key: string;
  readonly kind: 'task' | 'session';
  readonly id: string;
  readonly state: string;
  readonly name: string;
  readonly why: string;
  readonly at: string;
  /** Where its change is reviewed. */
  readonly review: boolean;
};

/** Sessions that failed, that a usage limit holds up, or that have inputs of an unknown fate. */
export const waitingSessions = (sessions: readonly SessionView[]): readonly Waits[] =>
  sessions.flatMap((session) => {
    const why = whySession(session);
    if (why === null) return [];
    const { id, name, changedAt } = session;
    return [{ ...{ key: `${id} ${why.state}`, kind: 'session', id, name, at: changedAt, review: false }, ...why }];
  });

const whySession = ({ state, reason, limit, uncertain }: SessionView): Pick<Waits, 'state' | 'why'> | null => {
  if (state === 'ended') return null;
  if (uncertain > 0)
    return {
      state: 'uncertain',
      why: `Nobody knows whether its program had ${uncertain === 1 ? 'an input' : `${uncertain} inputs`}: send again, or let be.`,
    };
  if (state === 'failed') return { state: 'failed', why: reason ?? 'It failed.' };
  if (limit !== null)
    return {
      state: 'limit',
      why: `The usage limit of ${limit.account} holds it up until ${new Date(limit.until).toLocaleString()}.`,
    };
  return null;
};

/** Tasks that wait or ended without a result that counts, results that nobody applied, and pull requests that are open. The work of a week, newest first. */
export const waitingTasks = (tasks: readonly Task[], nowMs: number): readonly Waits[] => {
  // Who had it run again, or goes on from it, has seen it.
  const seen = new Set(tasks.flatMap(({ continues, origin }) => [continues, origin.kind === 'retry' ? origin.by : null]));
  return tasks.flatMap((task) => {
    const why = seen.has(task.id) || isOld(task, nowMs) ? null : whyTask(task);
    if (why === null) return [];
    const { id, prompt, createdAt, endedAt } = task;
    const name = prompt.split('\n')[0]?.slice(0, 200) ?? id;
    return [{ key: `${id} ${why.state}`, kind: 'task' as const, id, name, at: endedAt ?? createdAt, ...why }];
  });
};

const isOld = ({ endedAt }: Task, nowMs: number): boolean => endedAt !== null && nowMs - Date.parse(endedAt) > SHOWN_MS;

const whyTask = (task: Task): Pick<Waits, 'state' | 'why' | 'review'> | null => {
  const { state, verdict, reason, result, pullRequest, appliedAt } = task;
  if (state === 'waiting') return { state, why: task.waitingFor ?? 'It waits.', review: false };
  if (verdict === null || verdict === 'cancelled') return null;
  const review = result !== null && result.headSha !== null && result.filesChanged > 0;
  if (verdict !== 'accepted') return { state: verdict, why: reason ?? 'It has no result that counts.', review };
  if (pullRequest !== null)
    return pullRequest.state === 'open' ? { state: 'open', why: `Pull request #${pullRequest.number} is open.`, review } : null;
  return review && appliedAt === null && task.project !== null
    ? { state: 'to review', why: 'Its result was not applied.', review }
    : null;
};
