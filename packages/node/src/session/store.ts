import { eventBody, type EventBody, type PermissionMode, type SessionState, type TurnState } from '@orrery/protocol';
import type { ExpressionBuilder, Insertable, Kysely, Updateable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { Tx } from '../store/store.ts';
import type { SessionFrameTable, SessionRunTable, SessionTable, TurnTable } from '../store/session-tables.ts';
import type { Tables } from '../store/tables.ts';
import { sessionNotFound, type SessionRow, type SessionRunRow, type TurnRow } from './model.ts';

export const findSession = async (db: Kysely<Tables>, id: string): Promise<SessionRow | null> =>
  (await db.selectFrom('session').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** By id (that one comes first), by a beginning of it, or by name: the newest of those that have not ended, then of the others. */
export const findSessions = (db: Kysely<Tables>, reference: string): Promise<SessionRow[]> =>
  db
    .selectFrom('session')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('name', '=', reference),
        ...(reference.startsWith('ses_') ? [eb.and([eb('id', '>=', reference), eb('id', '<', `${reference}~`)])] : []),
      ]),
    )
    .orderBy((eb) => eb('id', '=', reference), 'desc')
    .orderBy((eb) => eb('ended_at', 'is', null), 'desc')
    .orderBy('key', 'desc')
    .limit(3)
    .execute();

export const sessionByRequest = async (db: Kysely<Tables>, requestId: string): Promise<SessionRow | null> =>
  (await db.selectFrom('session').selectAll().where('request_id', '=', requestId).executeTakeFirst()) ?? null;

/** A page of sessions, newest first. `before` is the key of the last one of the page before. */
export const listSessions = (
  db: Kysely<Tables>,
  query: { readonly limit: number; readonly before: number | null; readonly state?: SessionState; readonly projectId?: string },
): Promise<SessionRow[]> => {
  let select = db.selectFrom('session').selectAll().orderBy('key', 'desc').limit(query.limit);
  if (query.before !== null) select = select.where('key', '<', query.before);
  if (query.state !== undefined) select = select.where('state', '=', query.state);
  if (query.projectId !== undefined) select = select.where('project_id', '=', query.projectId);
  return select.execute();
};

/** Sessions that have not ended. */
export const liveSessions = (db: Kysely<Tables>): Promise<SessionRow[]> =>
  db.selectFrom('session').selectAll().where('ended_at', 'is', null).orderBy('key').execute();

/** Sessions that could send their next input now but for what their account allows, that which waits longest first. */
export const readySessions = (db: Kysely<Tables>): Promise<SessionRow[]> =>
  db
    .selectFrom('session')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('state', '!=', 'failed')
    .where('held', '=', 0)
    .where('spent', 'is', null)
    .where('wanted', 'is', null)
    .where('operation', 'is', null)
    .where((eb) => eb.exists(turnsIn(eb, ['pending']).select('turn.id')))
    .where((eb) => eb.not(eb.exists(turnsIn(eb, ['uncertain', 'dispatching', 'accepted']).select('turn.id'))))
    .orderBy((eb) => turnsIn(eb, ['pending']).select((turn) => turn.fn.min('turn.created_at').as('since')))
    .execute();

const turnsIn = (eb: ExpressionBuilder<Tables, 'session'>, states: readonly TurnState[]) =>
  eb
    .selectFrom('turn')
    .whereRef('turn.session_id', '=', 'session.id')
    .where('turn.ended_at', 'is', null)
    .where('turn.state', 'in', [...states]);

export const insertSession = async (db: Kysely<Tables>, row: Insertable<SessionTable>): Promise<void> => {
  await db.insertInto('session').values(row).execute();
};

/** Changes a session; a new state is told in its log and to the node. */
export const changeSession = async (
  tx: Tx,
  id: string,
  {
    nowMs,
    ...change
  }: Omit<Updateable<SessionTable>, 'state' | 'changed_at'> & { readonly state?: SessionState; readonly nowMs: number },
): Promise<void> => {
  const before = await findSession(tx.db, id);
  if (before === null) throw sessionNotFound(id);
  await tx.db
    .updateTable('session')
    .set({ ...change, changed_at: nowMs })
    .where('id', '=', id)
    .execute();
  if (change.state === undefined || change.state === before.state) {
    // What a person wanted of it is so: whoever waits for that is woken.
    if (change.wanted === null && before.wanted !== null) await tellRenamed(tx, before);
    return;
  }
  const reason = change.reason === undefined ? before.reason : change.reason;
  await tx.append([
    { taskId: null, sessionId: id, turn: null, body: { kind: 'state', state: change.state, reason: reason ?? null } },
    { taskId: null, turn: null, body: { kind: 'session.changed', sessionId: id, state: change.state } },
  ]);
};

/** Lists show it anew. */
export const tellRenamed = async (tx: Tx, { id, state }: Pick<SessionRow, 'id' | 'state'>): Promise<void> => {
  const body = { kind: 'session.changed', sessionId: id, state: state as SessionState } as const;
  await tx.append([{ taskId: null, turn: null, body }]);
};

/** A plan was approved: the session goes on in that mode; null: as it was, or asking where it was only planning. */
export const goOnIn = async (
  tx: Tx,
  id: string,
  { mode, nowMs }: { readonly mode: PermissionMode | null; readonly nowMs: number },
): Promise<void> => {
  const row = await findSession(tx.db, id);
  if (row === null) throw sessionNotFound(id);
  await changeSession(tx, id, { mode: mode ?? (row.mode === 'plan' ? 'ask' : row.mode), nowMs });
};

/** The newest number of a session's log. */
export const newestSequence = async (db: Kysely<Tables>, key: number): Promise<number> => {
  const row = await db
    .selectFrom('event')
    .select(({ fn }) => fn.max('sequence').as('newest'))
    .where('session_key', '=', key)
    .executeTakeFirst();
  return row?.newest ?? 0;
};

/** The newest event of one kind in a session's log. */
export const newestOfKind = async (db: Kysely<Tables>, key: number, kind: EventBody['kind']): Promise<EventBody | null> => {
  const row = await db
    .selectFrom('event')
    .select('body')
    .where('session_key', '=', key)
    .where('kind', '=', kind)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : eventBody.parse(JSON.parse(row.body));
};

/** Kinds that a record of a conversation is made of. */
const telling = ['user', 'text', 'turn.ended', 'tool.call', 'interaction.opened', 'rewound'] as const;

/** The newest rows up to a number of a session's log that tell of its conversation, oldest first. */
export const newestEvents = async (
  db: Kysely<Tables>,
  key: number,
  { until, limit }: { readonly until: number; readonly limit: number },
): Promise<{ sequence: number | null; at: string; turn: number | null; body: EventBody }[]> => {
  const rows = await db
    .selectFrom('event')
    .select(['sequence', 'at', 'turn', 'body'])
    .where('session_key', '=', key)
    .where('sequence', '<=', until)
    .where('kind', 'in', [...telling])
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
  return rows
    .toReversed()
    .map(({ sequence, at, turn, body }) => ({ sequence, at: toInstant(at), turn, body: eventBody.parse(JSON.parse(body)) }));
};

/** Numbers of turns that somebody went behind. */
export const undoneTurns = async (db: Kysely<Tables>, sessionId: string): Promise<number[]> =>
  (
    await db
      .selectFrom('turn')
      .select('turn')
      .where('session_id', '=', sessionId)
      .where('undone', '=', 1)
      .where('turn', 'is not', null)
      .orderBy('turn')
      .execute()
  ).flatMap(({ turn }) => (turn === null ? [] : [turn]));

/** Marks the turns of these numbers, and all that began at or after an instant, as undone, and every other as not. */
export const markUndone = async (
  db: Kysely<Tables>,
  sessionId: string,
  { turns, startedFrom }: { readonly turns: readonly number[]; readonly startedFrom: number },
): Promise<void> => {
  const mine = db.updateTable('turn').where('session_id', '=', sessionId).where('turn', 'is not', null);
  await mine.set({ undone: 0 }).where('started_at', '<', startedFrom).execute();
  await mine.set({ undone: 1 }).where('started_at', '>=', startedFrom).execute();
  if (turns.length > 0)
    await mine
      .set({ undone: 1 })
      .where('turn', 'in', [...turns])
      .execute();
};

// --- turns ---

/** Inputs that are not over, in the order in which they are given to the program. */
export const openTurns = (db: Kysely<Tables>, sessionId: string): Promise<TurnRow[]> =>
  db
    .selectFrom('turn')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .orderBy('position')
    .execute();

/** The newest inputs that are over. */
export const endedTurns = (db: Kysely<Tables>, sessionId: string, limit: number): Promise<TurnRow[]> =>
  db
    .selectFrom('turn')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is not', null)
    .orderBy('ended_at', 'desc')
    .limit(limit)
    .execute();

export const findTurn = async (db: Kysely<Tables>, sessionId: string, reference: string): Promise<TurnRow | null> =>
  (await db
    .selectFrom('turn')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('request_id', '=', reference)]))
    .executeTakeFirst()) ?? null;

export const insertTurn = async (db: Kysely<Tables>, row: Insertable<TurnTable>): Promise<void> => {
  await db.insertInto('turn').values(row).execute();
};

export const updateTurn = async (db: Kysely<Tables>, id: string, change: Updateable<TurnTable>): Promise<void> => {
  await db.updateTable('turn').set(change).where('id', '=', id).execute();
};

/** The number of the newest turn of a session, and the last place in its queue. */
export const lastNumbers = async (db: Kysely<Tables>, sessionId: string): Promise<{ turn: number; position: number }> => {
  const row = await db
    .selectFrom('turn')
    .select(({ fn }) => [fn.max('turn').as('turn'), fn.max('position').as('position')])
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return { turn: row?.turn ?? 0, position: row?.position ?? 0 };
};

// --- the program's processes and what they are to be told ---

export const findSessionRun = async (db: Kysely<Tables>, id: string): Promise<SessionRunRow | null> =>
  (await db.selectFrom('session_run').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

export const insertSessionRun = async (db: Kysely<Tables>, row: Insertable<SessionRunTable>): Promise<void> => {
  await db.insertInto('session_run').values(row).execute();
};

export const updateSessionRun = async (db: Kysely<Tables>, id: string, change: Updateable<SessionRunTable>): Promise<void> => {
  await db.updateTable('session_run').set(change).where('id', '=', id).execute();
};

type FrameRow = { readonly key: string; readonly text: string; readonly turn_id: string | null };

export const insertFrames = async (db: Kysely<Tables>, rows: readonly Insertable<SessionFrameTable>[]): Promise<void> => {
  if (rows.length > 0)
    await db
      .insertInto('session_frame')
      .values([...rows])
      .execute();
};

/** What is still to be written to one process, in order. */
export const framesOf = (db: Kysely<Tables>, sessionId: string, generation: number): Promise<FrameRow[]> =>
  db
    .selectFrom('session_frame')
    .select(['key', 'text', 'turn_id'])
    .where('session_id', '=', sessionId)
    .where('generation', '=', generation)
    .orderBy('position')
    .execute();

export const removeFrames = async (
  db: Kysely<Tables>,
  {
    sessionId,
    generation,
    keys,
  }: { readonly sessionId: string; readonly generation: number; readonly keys: readonly string[] | 'all' },
): Promise<void> => {
  let remove = db.deleteFrom('session_frame').where('session_id', '=', sessionId).where('generation', '=', generation);
  if (keys !== 'all') remove = remove.where('key', 'in', [...keys]);
  await remove.execute();
};
