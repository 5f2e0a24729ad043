import { OrreryError } from '@orrery/protocol/errors';
import { isId, type EventBody, type OrreryEvent } from '@orrery/protocol';
import type Database from 'better-sqlite3';
import { toInstant } from '../../kernel/clock.ts';
import { EVENT_BODY_BYTES, EVENT_PAGE } from '../../kernel/limits.ts';
import type { EventText, EventTextQuery, NewEvent } from '../store.ts';
import type { AppendedRow, AppendRow } from './messages.ts';
import { rowOf, wordsOf } from './transcript-words.ts';

/** The rows of events to append; a body over the limit is refused with `input_too_large`. */
export const toAppendRows = (events: readonly NewEvent[], nowMs: number): AppendRow[] =>
  events.map(({ taskId, sessionId, turn, body, atMs = nowMs }) => {
    const text = JSON.stringify(body);
    // A UTF-16 unit is at most three bytes, so most bodies need no counting.
    if (text.length * 3 > EVENT_BODY_BYTES && Buffer.byteLength(text) > EVENT_BODY_BYTES) throw tooLarge(body);
    return sessionId === undefined
      ? [taskId, turn, body.kind, text, atMs, null, null]
      : [sessionId, turn, body.kind, text, atMs, rowOf(body), wordsOf(body)];
  });

const tooLarge = (body: EventBody): OrreryError =>
  new OrreryError('input_too_large', `An event "${body.kind}" is too large to store.`, {
    rule: `The body of one event has at most ${EVENT_BODY_BYTES} bytes; larger texts are kept apart and cut.`,
    details: { kind: body.kind, limitBytes: EVENT_BODY_BYTES },
  });

/** The events as they were stored, from what was sent and the numbers it got. */
export const toEvents = ({
  events,
  numbers,
  nowMs,
}: {
  events: readonly NewEvent[];
  numbers: readonly AppendedRow[];
  nowMs: number;
}): OrreryEvent[] => {
  return events.map(({ taskId, sessionId, turn, body, atMs = nowMs }, index) => {
    const at = toInstant(atMs);
    const [seq, sequence] = numbers[index]!;
    return { seq, at, taskId, ...(sessionId === undefined ? {} : { sessionId }), sequence, turn, body };
  });
};

export type EventRow = {
  seq: number;
  at: number;
  taskId: string | null;
  sessionId: string | null;
  sequence: number | null;
  turn: number | null;
  body: string;
};

/** An event as it was stored. */
export const fromRow = ({ seq, at, taskId, sessionId, sequence, turn, body }: EventRow): OrreryEvent => ({
  seq,
  at: toInstant(at),
  taskId,
  ...(sessionId === null ? {} : { sessionId }),
  sequence,
  turn,
  body: JSON.parse(body) as EventBody,
});

/** As `JSON.stringify` of the event would give it: the body was stored by it. */
const textOf = ({ seq, at, taskId, sessionId, sequence, turn, body }: EventRow): string =>
  `{"seq":${seq},"at":"${toInstant(at)}","taskId":${JSON.stringify(taskId)},${sessionId === null ? '' : `"sessionId":${JSON.stringify(sessionId)},`}"sequence":${sequence},"turn":${turn},"body":${body}}`;

export const eventColumns =
  'event.seq, event.at, task.id AS taskId, session.id AS sessionId, event.sequence, event.turn, event.kind, event.body';
export const eventOwners =
  'event LEFT JOIN task ON task.key = event.task_key LEFT JOIN session ON session.key = event.session_key';

/** Reads pages of events; a page has at most `EVENT_PAGE` events whatever is asked. */
export const createEventReader = (db: Database.Database) => {
  const ofNode = db.prepare(`SELECT ${eventColumns} FROM ${eventOwners} WHERE event.seq > ? ORDER BY event.seq LIMIT ?`);
  const ofTask = db.prepare(
    `SELECT ${eventColumns} FROM ${eventOwners} WHERE event.task_key = (SELECT key FROM task WHERE id = ?) AND event.sequence > ? ORDER BY event.sequence LIMIT ?`,
  );
  const ofSession = db.prepare(
    `SELECT ${eventColumns} FROM ${eventOwners} WHERE event.session_key = (SELECT key FROM session WHERE id = ?) AND event.sequence > ? ORDER BY event.sequence LIMIT ?`,
  );
  const of = (owner: string): typeof ofTask => (isId('session', owner) ? ofSession : ofTask);
  /** Read row by row: a page of large events must not be in memory before its bound is found. */
  const texts = (rows: Iterable<unknown>, chars: number): EventText[] => {
    const found: EventText[] = [];
    let left = chars;
    for (const row of rows as Iterable<EventRow & { readonly kind: string }>) {
      const json = textOf(row);
      found.push({ seq: row.seq, sequence: row.sequence, kind: row.kind, json });
      left -= json.length;
      if (left <= 0) break;
    }
    return found;
  };
  return {
    eventTexts: ({ owner, after, limit, chars }: EventTextQuery): EventText[] => {
      const most = Math.min(limit, EVENT_PAGE);
      return texts(owner === null ? ofNode.iterate(after, most) : of(owner).iterate(owner, after, most), chars);
    },
    events: ({ after, limit }: { after: number; limit: number }): OrreryEvent[] =>
      (ofNode.all(after, Math.min(limit, EVENT_PAGE)) as EventRow[]).map(fromRow),
    ownEvents: ({ owner, after, limit }: { owner: string; after: number; limit: number }): OrreryEvent[] =>
      (of(owner).all(owner, after, Math.min(limit, EVENT_PAGE)) as EventRow[]).map(fromRow),
  };
};
