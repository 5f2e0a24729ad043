import type { Insertable, Kysely, Selectable } from 'kysely';
import type { SessionCheckpointTable } from '../store/session-tables.ts';
import type { Tables } from '../store/tables.ts';

export type CheckpointRow = Selectable<SessionCheckpointTable>;

export const insertCheckpoint = async (db: Kysely<Tables>, row: Insertable<SessionCheckpointTable>): Promise<void> => {
  await db.insertInto('session_checkpoint').values(row).execute();
};

/** Newest first. */
export const checkpointsOf = (db: Kysely<Tables>, sessionId: string): Promise<CheckpointRow[]> =>
  db
    .selectFrom('session_checkpoint')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();

/** By its id, or the newest that was made before the turn of a number. */
export const findCheckpoint = async (db: Kysely<Tables>, sessionId: string, reference: string): Promise<CheckpointRow | null> => {
  const turn = /^\d{1,9}$/.test(reference) ? Number(reference) : null;
  const found = (await checkpointsOf(db, sessionId)).find((row) =>
    turn === null ? row.id === reference : row.kind === 'turn' && row.turn === turn,
  );
  return found ?? null;
};

export const removeCheckpoints = async (db: Kysely<Tables>, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0)
    await db
      .deleteFrom('session_checkpoint')
      .where('id', 'in', [...ids])
      .execute();
};
