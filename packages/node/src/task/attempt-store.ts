import type { StageName } from '@orrery/protocol';
import type { Insertable, Kysely, Updateable } from 'kysely';
import type { AttemptTable, StageTable, Tables } from '../store/tables.ts';
import type { AttemptRow, StageRow } from './model.ts';

export const attemptsOf = (db: Kysely<Tables>, taskId: string): Promise<AttemptRow[]> =>
  db.selectFrom('attempt').selectAll().where('task_id', '=', taskId).orderBy('number').execute();

export const countAttempts = async (db: Kysely<Tables>, taskIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  if (taskIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('attempt')
    .select(['task_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('task_id', 'in', taskIds)
    .groupBy('task_id')
    .execute();
  return new Map(rows.map((row) => [row.task_id, Number(row.count)]));
};

/** The attempt of a task that has not ended, or null. */
export const openAttempt = async (db: Kysely<Tables>, taskId: string): Promise<AttemptRow | null> =>
  (await db
    .selectFrom('attempt')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('ended_at', 'is', null)
    .orderBy('number', 'desc')
    .executeTakeFirst()) ?? null;

export const insertAttempt = async (db: Kysely<Tables>, row: Insertable<AttemptTable>): Promise<void> => {
  await db.insertInto('attempt').values(row).execute();
};

export const updateAttempt = async (db: Kysely<Tables>, id: string, change: Updateable<AttemptTable>): Promise<void> => {
  await db.updateTable('attempt').set(change).where('id', '=', id).execute();
};

export const stagesOf = (db: Kysely<Tables>, attemptId: string): Promise<StageRow[]> =>
  db.selectFrom('stage').selectAll().where('attempt_id', '=', attemptId).orderBy('started_at').orderBy('round').execute();

/** Names one stage of one attempt. */
export type StageKey = { readonly attemptId: string; readonly name: StageName; readonly round: number };

export const findStage = async (db: Kysely<Tables>, key: StageKey): Promise<StageRow | null> =>
  (await db
    .selectFrom('stage')
    .selectAll()
    .where('attempt_id', '=', key.attemptId)
    .where('name', '=', key.name)
    .where('round', '=', key.round)
    .executeTakeFirst()) ?? null;

export const insertStage = async (db: Kysely<Tables>, row: Insertable<StageTable>): Promise<void> => {
  await db.insertInto('stage').values(row).execute();
};

export const updateStage = async (db: Kysely<Tables>, key: StageKey, change: Updateable<StageTable>): Promise<void> => {
  await db
    .updateTable('stage')
    .set(change)
    .where('attempt_id', '=', key.attemptId)
    .where('name', '=', key.name)
    .where('round', '=', key.round)
    .execute();
};

/** Marks stages that were running when their attempt ended. */
export const interruptStages = async (
  db: Kysely<Tables>,
  { attemptId, nowMs }: { readonly attemptId: string; readonly nowMs: number },
): Promise<void> => {
  await db
    .updateTable('stage')
    .set({ state: 'interrupted', ended_at: nowMs })
    .where('attempt_id', '=', attemptId)
    .where('ended_at', 'is', null)
    .execute();
};
