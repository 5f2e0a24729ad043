import type { Kysely } from 'kysely';
import type { ProjectTable, Tables } from '../store/tables.ts';
import type { ProjectRow } from './model.ts';

type Db = Kysely<Tables>;

export const insertProject = async (db: Db, row: ProjectTable): Promise<void> => {
  await db.insertInto('project').values(row).execute();
};

export const updateProject = async (db: Db, id: string, change: Partial<Omit<ProjectTable, 'id'>>): Promise<void> => {
  await db.updateTable('project').set(change).where('id', '=', id).execute();
};

/** A project that is not removed, by id, name or source. */
export const findProject = async (db: Db, reference: string): Promise<ProjectRow | undefined> =>
  db
    .selectFrom('project')
    .selectAll()
    .where('removed_at', 'is', null)
    .where((where) => where.or([where('id', '=', reference), where('name', '=', reference), where('source', '=', reference)]))
    .executeTakeFirst();

/** Any project by id, removed ones too. */
export const projectById = async (db: Db, id: string): Promise<ProjectRow | undefined> =>
  db.selectFrom('project').selectAll().where('id', '=', id).executeTakeFirst();

export const projectsByIds = async (db: Db, ids: readonly string[]): Promise<ProjectRow[]> =>
  ids.length === 0
    ? []
    : db
        .selectFrom('project')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute();

/** Projects in the order in which they were added. */
export const listProjects = async (db: Db, { after, limit }: { after?: string; limit: number }): Promise<ProjectRow[]> => {
  let query = db.selectFrom('project').selectAll().where('removed_at', 'is', null).orderBy('id').limit(limit);
  if (after !== undefined) query = query.where('id', '>', after);
  return query.execute();
};

/** Names in use, to find a free one. */
export const takenNames = async (db: Db): Promise<Set<string>> =>
  new Set((await db.selectFrom('project').select('name').where('removed_at', 'is', null).execute()).map(({ name }) => name));

/** How many tasks each project has; the rows are the task slice's. */
export const countTasks = async (db: Db, ids: readonly string[]): Promise<Map<string, number>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('task')
    .select(['project_id', (of) => of.fn.countAll<number>().as('count')])
    .where('project_id', 'in', [...ids])
    .groupBy('project_id')
    .execute();
  return new Map(rows.map(({ project_id, count }) => [project_id ?? '', Number(count)]));
};

/** Tasks of a project that have not ended. */
export const openTasks = async (db: Db, projectId: string): Promise<number> =>
  (
    await db
      .selectFrom('task')
      .select('id')
      .where('project_id', '=', projectId)
      .where('state', 'in', ['queued', 'waiting', 'running'])
      .execute()
  ).length;

/** Names of the project's environments of their own; the rows are the environment slice's. */
export const environmentNames = async (db: Db, projectId: string): Promise<string[]> =>
  (
    await db
      .selectFrom('named_environment')
      .select('name')
      .where('project_id', '=', projectId)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .execute()
  ).map(({ name }) => name);

/** Results that were not applied, and saved work: what forgetting a project would lose sight of. */
export const countUnapplied = async (db: Db, projectId: string): Promise<{ results: number; salvage: number }> => {
  const tasks = await db
    .selectFrom('task')
    .select(['result'])
    .where('project_id', '=', projectId)
    .where('applied_at', 'is', null)
    .where('result', 'is not', null)
    .execute();
  const results = tasks.filter(
    ({ result }) => ((JSON.parse(result ?? '{}') as { filesChanged?: number }).filesChanged ?? 0) > 0,
  ).length;
  const salvage = await db.selectFrom('salvage').select('id').where('project_id', '=', projectId).execute();
  return { results, salvage: salvage.length };
};

/** Paths of the projects on this machine. */
export const listSources = async (db: Db): Promise<string[]> =>
  (
    await db.selectFrom('project').select('source').where('kind', '=', 'repository').where('removed_at', 'is', null).execute()
  ).map(({ source }) => source);
