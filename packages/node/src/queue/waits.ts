// Glossary. A wait is what keeps a queued task from beginning: a task that must be accepted first, or an instant. Waits
// are rows, so that they hold across starts of the node.

import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';

type Db = Kysely<Tables>;

/** A task that another one waits for: asked for by itself, or as the one before it in a series. */
export type Wait = { readonly awaits: string; readonly kind: 'dependency' | 'series' };

export const insertWaits = async (db: Db, taskId: string, waits: readonly Wait[]): Promise<void> => {
  if (waits.length === 0) return;
  await db
    .insertInto('task_wait')
    .values(waits.map((wait) => ({ task_id: taskId, ...wait })))
    .execute();
};

/** What a task still waits for. */
export const waitsOf = (db: Db, taskId: string): Promise<{ awaits: string; kind: string }[]> =>
  db.selectFrom('task_wait').select(['awaits', 'kind']).where('task_id', '=', taskId).orderBy('awaits').execute();

/** The waits for a task. */
const waitsFor = (db: Db, awaits: string): Promise<{ task_id: string; kind: string }[]> =>
  db.selectFrom('task_wait').select(['task_id', 'kind']).where('awaits', '=', awaits).orderBy('task_id').execute();

/** A task was accepted: nobody waits for it any more. Answers those that wait for nothing now and may begin. */
export const releaseWaits = async (db: Db, accepted: string): Promise<string[]> => {
  const waiting = await waitsFor(db, accepted);
  if (waiting.length === 0) return [];
  await db.deleteFrom('task_wait').where('awaits', '=', accepted).execute();
  const ids = waiting.map(({ task_id }) => task_id);
  const free = await db
    .selectFrom('queue_entry')
    .select('task_id')
    .where('task_id', 'in', ids)
    .where('not_before', '=', 0)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('task_wait').select('awaits').whereRef('task_wait.task_id', '=', 'queue_entry.task_id'))),
    )
    .orderBy('position')
    .execute();
  return free.map(({ task_id }) => task_id);
};

/** A task will never be accepted. Answers those that waited for it, which wait for nothing any more: they cannot begin. */
export const breakWaits = async (
  db: Db,
  lost: string,
): Promise<readonly { readonly taskId: string; readonly kind: string }[]> => {
  const waiting = await waitsFor(db, lost);
  for (const { task_id } of waiting) await dropWaits(db, task_id);
  return waiting.map(({ task_id, kind }) => ({ taskId: task_id, kind }));
};

/** A task waits for nothing any more. */
export const dropWaits = async (db: Db, taskId: string): Promise<void> => {
  await db.deleteFrom('task_wait').where('task_id', '=', taskId).execute();
};

/** Entries whose instant has come wait for it no longer. Answers those that wait for nothing else and may begin. */
export const ripen = async (db: Db, nowMs: number): Promise<string[]> => {
  const due = await db
    .selectFrom('queue_entry')
    .select('task_id')
    .where('not_before', '>', 0)
    .where('not_before', '<=', nowMs)
    .orderBy('position')
    .execute();
  if (due.length === 0) return [];
  const ids = due.map(({ task_id }) => task_id);
  await db.updateTable('queue_entry').set({ not_before: 0 }).where('task_id', 'in', ids).execute();
  const held = await db.selectFrom('task_wait').select('task_id').distinct().where('task_id', 'in', ids).execute();
  return ids.filter((id) => !held.some(({ task_id }) => task_id === id));
};

/** The instant at which the next entry ripens, or null. */
export const nextRipe = async (db: Db): Promise<number | null> =>
  (
    await db
      .selectFrom('queue_entry')
      .select('not_before')
      .where('not_before', '>', 0)
      .orderBy('not_before')
      .limit(1)
      .executeTakeFirst()
  )?.not_before ?? null;
