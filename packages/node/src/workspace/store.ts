import type { Kysely, Selectable } from 'kysely';
import type { OwnedDirectory } from '../files/remove.ts';
import type { CheckoutTable, SalvageTable, Tables } from '../store/tables.ts';
import type { DirectoryKind, DirectoryState } from './model.ts';

export type DirectoryRow = Selectable<CheckoutTable>;
export type SalvageRow = Selectable<SalvageTable>;

type Db = Kysely<Tables>;

export const insertDirectory = async (
  db: Db,
  row: {
    id: string;
    path: string;
    kind: DirectoryKind;
    state: DirectoryState;
    projectId: string | null;
    taskId: string | null;
    nowMs: number;
  },
): Promise<void> => {
  const { id, path, kind, state, projectId, taskId, nowMs } = row;
  await db
    .insertInto('checkout')
    .values({
      id,
      path,
      kind,
      state,
      project_id: projectId,
      task_id: taskId,
      device: null,
      inode: null,
      base_sha: null,
      created_at: nowMs,
      used_at: nowMs,
    })
    .execute();
};

export const updateDirectory = async (db: Db, id: string, change: Partial<Omit<CheckoutTable, 'id'>>): Promise<void> => {
  await db.updateTable('checkout').set(change).where('id', '=', id).execute();
};

export const deleteDirectory = async (db: Db, id: string): Promise<void> => {
  await db.deleteFrom('checkout').where('id', '=', id).execute();
};

export const findDirectory = async (db: Db, id: string): Promise<DirectoryRow | undefined> =>
  db.selectFrom('checkout').selectAll().where('id', '=', id).executeTakeFirst();

export const listDirectories = async (
  db: Db,
  where: { kind?: DirectoryKind; state?: DirectoryState; projectId?: string; taskId?: string } = {},
): Promise<DirectoryRow[]> => {
  let query = db.selectFrom('checkout').selectAll().orderBy('created_at').orderBy('id');
  if (where.kind !== undefined) query = query.where('kind', '=', where.kind);
  if (where.state !== undefined) query = query.where('state', '=', where.state);
  if (where.projectId !== undefined) query = query.where('project_id', '=', where.projectId);
  if (where.taskId !== undefined) query = query.where('task_id', '=', where.taskId);
  return query.execute();
};

/** A ready slot of a project, one at that base before any other; undefined when there is none. */
export const findReadySlot = async (
  db: Db,
  { projectId, baseSha }: { projectId: string; baseSha: string },
): Promise<DirectoryRow | undefined> => {
  const ready = await db
    .selectFrom('checkout')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('kind', '=', 'slot')
    .where('state', '=', 'ready')
    .orderBy('used_at', 'desc')
    .execute();
  return ready.find(({ base_sha }) => base_sha === baseSha) ?? ready[0];
};

/** The recorded directory of a row, or null when a crash came before its identity was stored. */
export const ownedOf = ({ path, device, inode }: DirectoryRow): OwnedDirectory | null =>
  device === null || inode === null ? null : { path, device, inode };

/** Paths that belong to people: what no deletion may touch. */
export const userPaths = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('project').select('source').where('kind', '=', 'repository').execute()).map(({ source }) => source);

export const insertSalvage = async (db: Db, row: SalvageTable): Promise<void> => {
  await db.insertInto('salvage').values(row).execute();
};

export const findSalvage = async (db: Db, id: string): Promise<SalvageRow | undefined> =>
  db.selectFrom('salvage').selectAll().where('id', '=', id).executeTakeFirst();

/** What was saved first of a task's work: its files and commits, before stashes and other branches. */
export const salvageOfTask = async (db: Db, taskId: string): Promise<SalvageRow | undefined> =>
  db.selectFrom('salvage').selectAll().where('task_id', '=', taskId).orderBy('id').executeTakeFirst();

/** Saved work, newest first. */
export const listSalvage = async (
  db: Db,
  { projectId, before, limit }: { projectId?: string; before?: string; limit: number },
): Promise<SalvageRow[]> => {
  let query = db.selectFrom('salvage').selectAll().orderBy('id', 'desc').limit(limit);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.execute();
};

/** Saved work made at or before an instant, oldest first. */
export const salvageUntil = async (db: Db, { untilMs, limit }: { untilMs: number; limit: number }): Promise<SalvageRow[]> =>
  db
    .selectFrom('salvage')
    .selectAll()
    .where('created_at', '<=', untilMs)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();

export const deleteSalvage = async (db: Db, id: string): Promise<void> => {
  await db.deleteFrom('salvage').where('id', '=', id).execute();
};

/** What the salvage operations need to know of a project; the row is the project slice's. */
export const projectOf = async (
  db: Db,
  reference: string,
): Promise<{ id: string; name: string; source: string; kind: string } | undefined> =>
  db
    .selectFrom('project')
    .select(['id', 'name', 'source', 'kind'])
    .where((where) =>
      where.or([where('id', '=', reference), where.and([where('name', '=', reference), where('removed_at', 'is', null)])]),
    )
    .executeTakeFirst();
