import type { Answers, InteractionOutcome } from '@orrery/protocol';
import type { Insertable, Kysely } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { Tx } from '../store/store.ts';
import type { InteractionTable } from '../store/session-tables.ts';
import type { Tables } from '../store/tables.ts';
import { askOf, type InteractionRow } from './model.ts';

export const findInteraction = async (db: Kysely<Tables>, id: string): Promise<InteractionRow | null> =>
  (await db.selectFrom('interaction').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** Interactions, oldest first: those that wait, or the newest of all. */
export const listInteractions = async (
  db: Kysely<Tables>,
  query: { readonly sessionId?: string; readonly all: boolean; readonly limit: number },
): Promise<InteractionRow[]> => {
  const order = query.all ? 'desc' : 'asc';
  let select = db.selectFrom('interaction').selectAll().orderBy('created_at', order).orderBy('id', order).limit(query.limit);
  if (query.sessionId !== undefined) select = select.where('session_id', '=', query.sessionId);
  if (!query.all) select = select.where('state', '=', 'open');
  const rows = await select.execute();
  return query.all ? rows.toReversed() : rows;
};

export const countOpen = async (db: Kysely<Tables>, sessionId: string): Promise<number> => {
  const row = await db
    .selectFrom('interaction')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', sessionId)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** Opens one, and tells it in the session's log. */
export const openInteraction = async (tx: Tx, row: Insertable<InteractionTable>): Promise<void> => {
  await tx.db.insertInto('interaction').values(row).execute();
  const deadlineAt = row.deadline_at == null ? null : toInstant(row.deadline_at);
  const body = {
    kind: 'interaction.opened',
    interactionId: row.id,
    revision: row.revision,
    ask: JSON.parse(row.ask),
    deadlineAt,
  } as const;
  await tx.append([{ taskId: null, sessionId: row.session_id, turn: row.turn ?? null, body }]);
};

/** Settles one that is open; answers whether it was. Told: the program needs no word of it. */
export const settleInteraction = async (
  tx: Tx,
  row: InteractionRow,
  how: {
    readonly outcome: InteractionOutcome;
    readonly by: string | null;
    readonly message: string | null;
    readonly answers?: Answers | null;
    readonly told: boolean;
    readonly nowMs: number;
  },
): Promise<boolean> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('interaction')
    .set({
      state: 'settled',
      outcome: how.outcome,
      by: how.by,
      message: how.message,
      answers: how.answers == null ? null : JSON.stringify(how.answers),
      told: how.told ? 1 : 0,
      settled_at: how.nowMs,
    })
    .where('id', '=', row.id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const body = {
    kind: 'interaction.settled',
    interactionId: row.id,
    asked: askOf(row).kind,
    outcome: how.outcome,
    answers: how.answers ?? null,
    by: how.by,
  } as const;
  await tx.append([{ taskId: null, sessionId: row.session_id, turn: row.turn, body }]);
  return true;
};

/** Answers that the program of a session was not told yet. */
export const untold = (db: Kysely<Tables>, sessionId: string): Promise<InteractionRow[]> =>
  db
    .selectFrom('interaction')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('state', '=', 'settled')
    .where('told', '=', 0)
    .orderBy('settled_at')
    .execute();

export const markTold = async (db: Kysely<Tables>, id: string): Promise<void> => {
  await db.updateTable('interaction').set({ told: 1 }).where('id', '=', id).execute();
};

/** Open ones whose time is up. */
export const overdue = (db: Kysely<Tables>, nowMs: number): Promise<InteractionRow[]> =>
  db.selectFrom('interaction').selectAll().where('state', '=', 'open').where('deadline_at', '<=', nowMs).execute();

/** Removes what was settled in sessions that ended before an instant, at most so many; answers how many. The log keeps what was asked and answered. */
export const removeOldInteractions = async (
  db: Kysely<Tables>,
  { beforeMs, most }: { readonly beforeMs: number; readonly most: number },
): Promise<number> => {
  const rows = await db
    .selectFrom('interaction')
    .innerJoin('session', 'session.id', 'interaction.session_id')
    .select('interaction.id')
    .where('session.ended_at', '<', beforeMs)
    .where('interaction.state', '=', 'settled')
    .limit(most)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('interaction').where('id', 'in', ids).execute();
  return ids.length;
};

/** Everything that a session asked, for one that is deleted. */
export const removeInteractions = async (db: Kysely<Tables>, sessionId: string): Promise<void> => {
  await db.deleteFrom('interaction').where('session_id', '=', sessionId).execute();
};
