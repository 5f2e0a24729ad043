import { OrreryError, type TaskState } from '@orrery/protocol';
import type { Insertable, Kysely, Updateable } from 'kysely';
import type { Tables, TaskTable } from '../store/tables.ts';
import { statesBefore, type TaskRow } from './model.ts';

/** The task of an id, or null. */
export const findTask = async (db: Kysely<Tables>, id: string): Promise<TaskRow | null> =>
  (await db.selectFrom('task').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** Tasks whose id begins with a text; at most two are needed to know that it is ambiguous. */
export const findTasksByPrefix = (db: Kysely<Tables>, prefix: string): Promise<TaskRow[]> =>
  db.selectFrom('task').selectAll().where('id', '>=', prefix).where('id', '<', `${prefix}~`).orderBy('id').limit(2).execute();

/** Whether a task that has not ended, or ended after an instant, works or worked in an environment of its own. */
export const workedSince = async (
  db: Kysely<Tables>,
  where: { readonly environmentId: string; readonly sinceMs: number },
): Promise<boolean> =>
  (await db
    .selectFrom('task')
    .select('id')
    .where('environment_id', '=', where.environmentId)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>', where.sinceMs)]))
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** Tasks of a series, newest first, that may still be accepted or were. */
export const seriesBefore = (
  db: Kysely<Tables>,
  { projectId, series }: { readonly projectId: string; readonly series: string },
): Promise<TaskRow[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('series', '=', series)
    .where('state', 'not in', ['rejected', 'failed', 'cancelled'])
    .orderBy('key', 'desc')
    .limit(1)
    .execute();

/** The task a request made, or null. */
export const findTaskByRequest = async (db: Kysely<Tables>, requestId: string): Promise<TaskRow | null> =>
  (await db.selectFrom('task').selectAll().where('request_id', '=', requestId).executeTakeFirst()) ?? null;

/** A page of tasks, newest first. `before` is the key of the last one of the page before. */
export const listTasks = (
  db: Kysely<Tables>,
  query: {
    readonly limit: number;
    readonly before: number | null;
    readonly state?: TaskState;
    readonly projectId?: string;
    readonly series?: string;
  },
): Promise<TaskRow[]> => {
  let select = db.selectFrom('task').selectAll().orderBy('key', 'desc').limit(query.limit);
  if (query.before !== null) select = select.where('key', '<', query.before);
  if (query.state !== undefined) select = select.where('state', '=', query.state);
  if (query.series !== undefined) select = select.where('series', '=', query.series);
  if (query.projectId !== undefined) select = select.where('project_id', '=', query.projectId);
  return select.execute();
};

/** Tasks in given states, oldest first. */
export const tasksInStates = (db: Kysely<Tables>, states: readonly TaskState[]): Promise<TaskRow[]> =>
  db.selectFrom('task').selectAll().where('state', 'in', states).orderBy('key').execute();

/** How many tasks are in each state. */
export const countByState = async (db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> => {
  const rows = await db
    .selectFrom('task')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  return new Map(rows.map((row) => [row.state, Number(row.count)]));
};

export const insertTask = async (db: Kysely<Tables>, row: Insertable<TaskTable>): Promise<void> => {
  await db.insertInto('task').values(row).execute();
};

/** What may be changed of a task. */
type TaskChange = Omit<Updateable<TaskTable>, 'state'> & { readonly state?: TaskState };

/** Changes a task. Its state changes only as the model's moves allow; any other move is `conflict` and changes nothing. */
export const updateTask = async (db: Kysely<Tables>, id: string, change: TaskChange): Promise<void> => {
  const { state } = change;
  let update = db.updateTable('task').set(change).where('id', '=', id);
  if (state !== undefined) update = update.where('state', 'in', statesBefore(state));
  const { numUpdatedRows } = await update.executeTakeFirst();
  if (numUpdatedRows > 0n || state === undefined) return;
  throw new OrreryError('conflict', `Task ${id} cannot become ${state}.`, {
    rule: `Only a task that is ${statesBefore(state).join(', ')} becomes ${state}.`,
    fix: `orrery task show ${id}`,
  });
};
