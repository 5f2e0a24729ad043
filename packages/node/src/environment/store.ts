import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { EnvironmentTable, RunTable, Tables } from '../store/tables.ts';

export type EnvironmentRow = Selectable<EnvironmentTable>;
export type RunRow = Selectable<RunTable>;

export const findEnvironment = async (db: Kysely<Tables>, id: string): Promise<EnvironmentRow | null> =>
  (await db.selectFrom('environment').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** Environments that are not closed. */
export const openEnvironments = (db: Kysely<Tables>): Promise<EnvironmentRow[]> =>
  db.selectFrom('environment').selectAll().where('closed_at', 'is', null).execute();

/** The environment of a task that is open, or being opened or closed; null when there is none. */
export const newestOpenEnvironment = async (db: Kysely<Tables>, taskId: string): Promise<EnvironmentRow | null> =>
  (await db
    .selectFrom('environment')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('closed_at', 'is', null)
    .orderBy('opened_at', 'desc')
    .executeTakeFirst()) ?? null;

export const insertEnvironment = async (db: Kysely<Tables>, row: Insertable<EnvironmentTable>): Promise<void> => {
  await db.insertInto('environment').values(row).execute();
};

export const updateEnvironment = async (db: Kysely<Tables>, id: string, change: Updateable<EnvironmentTable>): Promise<void> => {
  await db.updateTable('environment').set(change).where('id', '=', id).execute();
};

/** The newest run of a stage: a run that never began may have been followed by another. */
export const findRun = async (
  db: Kysely<Tables>,
  key: { readonly attemptId: string; readonly stage: string; readonly round: number },
): Promise<RunRow | null> =>
  (await db
    .selectFrom('run')
    .selectAll()
    .where('attempt_id', '=', key.attemptId)
    .where('stage', '=', key.stage)
    .where('round', '=', key.round)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()) ?? null;

export const runsOfAttempt = (db: Kysely<Tables>, attemptId: string): Promise<RunRow[]> =>
  db.selectFrom('run').selectAll().where('attempt_id', '=', attemptId).orderBy('started_at').execute();

export const findRunById = async (db: Kysely<Tables>, id: string): Promise<RunRow | null> =>
  (await db.selectFrom('run').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** Runs of an environment that were begun under one stage, oldest first. */
export const runsOfStage = (db: Kysely<Tables>, environmentId: string, stage: string): Promise<RunRow[]> =>
  db
    .selectFrom('run')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('stage', '=', stage)
    .orderBy('started_at')
    .execute();

export const insertRun = async (db: Kysely<Tables>, row: Insertable<RunTable>): Promise<void> => {
  await db.insertInto('run').values(row).execute();
};

export const updateRun = async (db: Kysely<Tables>, id: string, change: Updateable<RunTable>): Promise<void> => {
  await db.updateTable('run').set(change).where('id', '=', id).execute();
};

/** Records as over, with the attempt, its runs whose end was never learnt: the keeper was lost, or nobody lived to read it. */
export const endLostRuns = async (
  db: Kysely<Tables>,
  { attemptId, nowMs }: { readonly attemptId: string; readonly nowMs: number },
): Promise<void> => {
  await db
    .updateTable('run')
    .set({ state: 'lost', ended_at: nowMs })
    .where('attempt_id', '=', attemptId)
    .where('ended_at', 'is', null)
    .execute();
};
