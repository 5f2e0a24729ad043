// The log and the turns of a session up to a checkpoint, told again in another one: what was undone by then is not, and of a
// long log the newest part. Large texts stay with the session in which they were said.

import { eventBody, isUndone, undoneRanges, type EventBody, type OrreryEvent } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import type { NewEvent, Store, Tx } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import type { CheckpointRow } from './checkpoint-store.ts';
import type { SessionParts } from './doors.ts';
import { FORK_EVENTS, FORK_LOG_CHARS, FORK_TURNS } from './limits.ts';
import type { SessionRow, TurnRow } from './model.ts';
import { insertTurn } from './store.ts';

/** What of a log is told again, oldest first; `more`: there was more before it. */
export type ToldBefore = { readonly events: readonly OrreryEvent[]; readonly more: boolean };

/** What is of the other session's own life, and no part of what was said. */
const own: ReadonlySet<EventBody['kind']> = new Set(['state', 'checkpoint', 'rewound', 'queue.changed']);

const PAGE = 200;

/** The newest part of a log up to a checkpoint, without what was undone then. */
export const toldBefore = async (
  store: Store,
  session: Pick<SessionRow, 'id' | 'key'>,
  { sequence }: Pick<CheckpointRow, 'sequence'>,
): Promise<ToldBefore> => {
  const ranges = undoneRanges(await rewindingsUntil(store.read, session.key, sequence));
  const kept: OrreryEvent[] = [];
  let chars = 0;
  for (let before = sequence + 1; before > 1;) {
    const page = await store.eventsBefore({ session: session.id, before, limit: PAGE });
    if (page.length === 0) break;
    for (const event of page.toReversed()) {
      if (own.has(event.body.kind) || isUndone(ranges, event.sequence ?? 0)) continue;
      chars += JSON.stringify(event.body).length;
      if (kept.length >= FORK_EVENTS || chars > FORK_LOG_CHARS) return { events: kept.toReversed(), more: true };
      kept.push(event);
    }
    before = page[0]?.sequence ?? 1;
  }
  return { events: kept.toReversed(), more: false };
};

/** The rewindings of the conversation in a log up to a number, in their order. */
const rewindingsUntil = async (
  db: Kysely<Tables>,
  key: number,
  until: number,
): Promise<{ sequence: number; after: number }[]> => {
  const rows = await db
    .selectFrom('event')
    .select(['sequence', 'body'])
    .where('session_key', '=', key)
    .where('kind', '=', 'rewound')
    .where('sequence', '<=', until)
    .orderBy('sequence')
    .execute();
  return rows.flatMap(({ sequence, body }) => {
    const told = eventBody.parse(JSON.parse(body));
    return told.kind === 'rewound' && told.conversation && sequence !== null ? [{ sequence, after: told.after }] : [];
  });
};

/** Appends it to the log of the fork, each event with the time at which it was. */
export const copyLog = async (
  tx: Tx,
  { told, to, from }: { readonly told: ToldBefore; readonly to: string; readonly from: Pick<SessionRow, 'id'> },
): Promise<void> => {
  const text = `What was said before is in the log of the session ${from.id}.`;
  const cut: NewEvent = { taskId: null, sessionId: to, turn: null, body: { kind: 'notice', level: 'info', text } };
  const events = told.events.map(({ at, turn, body }): NewEvent => ({
    taskId: null,
    sessionId: to,
    turn,
    body,
    atMs: Date.parse(at),
  }));
  const all = told.more ? [cut, ...events] : events;
  for (let at = 0; at < all.length; at += PAGE) await tx.append(all.slice(at, at + PAGE));
};

/** Its turns that were over at a checkpoint, oldest first, and the record that the next one was given. */
export const turnsBefore = async (
  db: Kysely<Tables>,
  sessionId: string,
  at: CheckpointRow,
): Promise<{ readonly rows: readonly TurnRow[]; readonly record: string | null }> => {
  const undone = new Set(JSON.parse(at.undone) as number[]);
  const mine = db.selectFrom('turn').selectAll().where('session_id', '=', sessionId).where('turn', 'is not', null);
  const over = mine.where('ended_at', 'is not', null);
  const before = at.turn === null ? over.where('started_at', '<=', at.created_at) : over.where('turn', '<', at.turn);
  const rows = await before.orderBy('turn', 'desc').orderBy('position', 'desc').limit(FORK_TURNS).execute();
  const next = at.turn === null ? null : await mine.where('turn', '=', at.turn).where('kind', '=', 'prompt').executeTakeFirst();
  return { rows: rows.filter(({ turn }) => turn === null || !undone.has(turn)).toReversed(), record: next?.record ?? null };
};

/** The same turns in the fork: they are over there too, and the next one bears the next number. */
export const copyTurns = async (
  { ids }: Pick<SessionParts, 'ids'>,
  tx: Tx,
  { turns, to }: { readonly turns: readonly TurnRow[]; readonly to: string },
): Promise<void> => {
  for (const turn of turns)
    await insertTurn(tx.db, {
      ...turn,
      ...{ id: ids('turn'), session_id: to, request_id: `fork.${turn.id}`, undone: 0 },
      // What went along stays with the session that it was given to.
      attachments: '[]',
    });
};
