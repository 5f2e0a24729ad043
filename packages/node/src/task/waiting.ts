// What keeps a task from beginning, in words, and what becomes of those that wait when a task ends.

import { OrreryError, type TaskState, type Verdict } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { breakWaits, dequeue, findEntry, positionOf, releaseWaits, waitsOf, type Wait } from '../queue/index.ts';
import type { Tx } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import { taskNotFound, type TaskRow } from './model.ts';
import { findTask, updateTask } from './store.ts';

/** Verdicts after which a task is never accepted under the same id. */
const isLost = (state: string): boolean => ['rejected', 'failed', 'cancelled'].includes(state);

/** How many awaited tasks are named. */
const NAMED = 3;

/** What a new task waits for: of those it depends on the ones that are not accepted yet, and the one before it in its series. */
export const waitsFor = async (
  db: Kysely<Tables>,
  { dependsOn, last }: { readonly dependsOn: readonly string[]; readonly last: TaskRow | null },
): Promise<readonly Wait[]> => {
  const waits: Wait[] = [];
  for (const id of dependsOn) {
    const task = await findTask(db, id);
    if (task === null) throw taskNotFound(id);
    if (isLost(task.state))
      throw new OrreryError('conflict', `The task ${id} ended: ${task.state}.`, {
        rule: 'A task depends on tasks that were accepted, or still can be.',
        fix: `Do it once more, and depend on the new one: orrery task retry ${id}`,
      });
    if (task.state !== 'accepted') waits.push({ awaits: id, kind: 'dependency' });
  }
  if (last !== null && last.state !== 'accepted' && !dependsOn.includes(last.id)) waits.push({ awaits: last.id, kind: 'series' });
  return waits;
};

const awaitedText = async (db: Kysely<Tables>, id: string): Promise<string> => {
  const state = (await findTask(db, id))?.state ?? 'gone';
  return state === 'limit' || state === 'interrupted' ? `${id} (${state}; orrery task retry ${id})` : `${id} (${state})`;
};

/** What keeps a queued task from beginning even when there is room: tasks, or an instant; null: nothing. */
export const whatHolds = async (
  db: Kysely<Tables>,
  { taskId, nowMs }: { readonly taskId: string; readonly nowMs: number },
): Promise<string | null> => {
  const entry = await findEntry(db, taskId);
  if (entry === null || entry.lease_owner !== null) return null;
  const waits = await waitsOf(db, taskId);
  if (waits.length > 0) {
    const named = await Promise.all(waits.slice(0, NAMED).map(({ awaits }) => awaitedText(db, awaits)));
    return `${waits.length === 1 ? 'task' : 'tasks'} ${named.join(', ')}${waits.length > NAMED ? ` and ${waits.length - NAMED} more` : ''}`;
  }
  return entry.not_before > nowMs ? `its time, ${new Date(entry.not_before).toISOString()}` : null;
};

/** Why a task has not begun yet, in words; null when it has. */
export const whyItWaits = async (
  db: Kysely<Tables>,
  taskId: string,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: string | null },
): Promise<string | null> => {
  const entry = await findEntry(db, taskId);
  if (entry === null || entry.lease_owner !== null) return null;
  const held = await whatHolds(db, { taskId, nowMs });
  if (held !== null) return held;
  if (limit !== null && entry.past_limit === 0) return limit;
  const before = await positionOf(db, entry);
  return before === 0 ? 'a free place' : `${before} task${before === 1 ? '' : 's'} before it`;
};

/** Nothing but room keeps a task from beginning any more. */
export const mayBegin = async (tx: Tx, taskId: string): Promise<void> => {
  if ((await findTask(tx.db, taskId))?.state !== 'waiting') return;
  await updateTask(tx.db, taskId, { state: 'queued' });
  await tx.append([{ taskId, turn: null, body: { kind: 'task.state', state: 'queued', waitingFor: null } }]);
};

const endWords: Readonly<Partial<Record<TaskState, string>>> = {
  rejected: 'was rejected',
  failed: 'failed',
  cancelled: 'was cancelled',
};

const noUsage = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };

/** A task that cannot begin any more fails: nothing of it ran. */
const failWaiting = async (
  tx: Tx,
  taskId: string,
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): Promise<void> => {
  await dequeue(tx.db, taskId, null);
  const end = { verdict: 'failed', cause: 'dependency', reason } as const;
  await updateTask(tx.db, taskId, { state: 'failed', ...end, ended_at: nowMs });
  await tx.append([
    { taskId, turn: null, body: { kind: 'task.state', state: 'failed', waitingFor: null } },
    { taskId, turn: null, body: { kind: 'task.ended', ...end, filesChanged: 0, usage: noUsage } },
  ]);
};

/**
 * A task ended, in the transaction that says so: those that waited for it may begin, or, when it will never be accepted,
 * fail, and those that waited for them. After `limit` and `interrupted` they go on waiting: the same task may be tried again.
 */
export const tellWaiting = async (
  tx: Tx,
  ended: { readonly taskId: string; readonly verdict: Verdict; readonly nowMs: number },
): Promise<void> => {
  if (ended.verdict === 'accepted') {
    for (const id of await releaseWaits(tx.db, ended.taskId)) await mayBegin(tx, id);
    return;
  }
  if (!isLost(ended.verdict)) return;
  const lost: { readonly id: string; readonly state: Verdict }[] = [{ id: ended.taskId, state: ended.verdict }];
  for (let next = lost.shift(); next !== undefined; next = lost.shift()) {
    for (const { taskId, kind } of await breakWaits(tx.db, next.id)) {
      const role = kind === 'series' ? 'the one before it in its series' : 'which it depends on';
      await failWaiting(tx, taskId, {
        reason: `Task ${next.id}, ${role}, ${endWords[next.state] ?? next.state}.`,
        nowMs: ended.nowMs,
      });
      lost.push({ id: taskId, state: 'failed' });
    }
  }
};
