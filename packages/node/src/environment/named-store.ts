import type { EnvironmentOperation, EnvironmentState, NodeBody } from '@orrery/protocol';
import type { Insertable, Kysely, Updateable } from 'kysely';
import type { Tx } from '../store/store.ts';
import type { NamedEnvironmentTable, Tables } from '../store/tables.ts';
import type { NamedRow } from './model.ts';

type Db = Kysely<Tables>;

/** An environment by id or name that is not deleted. */
export const findNamed = async (db: Db, reference: string): Promise<NamedRow | null> =>
  (await db
    .selectFrom('named_environment')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where((where) => where.or([where('id', '=', reference), where('name', '=', reference)]))
    .executeTakeFirst()) ?? null;

/** Any environment by id, deleted ones too. */
export const namedById = async (db: Db, id: string): Promise<NamedRow | null> =>
  (await db.selectFrom('named_environment').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

export const namedByRequest = async (db: Db, requestId: string): Promise<NamedRow | null> =>
  (await db.selectFrom('named_environment').selectAll().where('request_id', '=', requestId).executeTakeFirst()) ?? null;

/** Environments that are not deleted, oldest first. */
export const listNamed = async (
  db: Db,
  { projectId, after, limit = 100_000 }: { readonly projectId?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<NamedRow[]> => {
  let query = db.selectFrom('named_environment').selectAll().where('deleted_at', 'is', null).orderBy('id').limit(limit);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (after !== undefined) query = query.where('id', '>', after);
  return query.execute();
};

export const insertNamed = async (tx: Tx, row: Insertable<NamedEnvironmentTable>): Promise<void> => {
  await tx.db.insertInto('named_environment').values(row).execute();
  await tx.append([{ taskId: null, turn: null, body: changed(row) }]);
};

/** Changes an environment and says so, when its state or what is done to it is another afterwards. */
export const changeNamed = async (
  tx: Tx,
  id: string,
  { nowMs, ...change }: Updateable<NamedEnvironmentTable> & { readonly nowMs: number },
): Promise<void> => {
  const before = await namedById(tx.db, id);
  await tx.db
    .updateTable('named_environment')
    .set({ ...change, changed_at: nowMs })
    .where('id', '=', id)
    .execute();
  const after = await namedById(tx.db, id);
  if (before === null || after === null) return;
  if (after.deleted_at !== null && before.deleted_at === null)
    await tx.append([{ taskId: null, turn: null, body: { kind: 'environment.removed', environmentId: id } }]);
  else if (before.state !== after.state || before.operation !== after.operation || before.name !== after.name)
    await tx.append([{ taskId: null, turn: null, body: changed(after) }]);
};

/** Records a measurement: nothing else about it is another. */
export const measureNamed = async (
  db: Db,
  id: string,
  measured: { readonly bytes: number; readonly nowMs: number },
): Promise<void> => {
  await db
    .updateTable('named_environment')
    .set({ disk_bytes: measured.bytes, disk_at: measured.nowMs })
    .where('id', '=', id)
    .execute();
};

const changed = (row: {
  readonly id: string;
  readonly state: string;
  readonly operation?: string | null;
  readonly reason?: string | null;
}): NodeBody => ({
  kind: 'environment.changed',
  environmentId: row.id,
  state: row.state as EnvironmentState,
  operation: (row.operation ?? null) as EnvironmentOperation | null,
  reason: row.reason ?? null,
});
