// A transcript as rows: each event is one, and a row that comes again is a newer revision of itself. Its end is read first,
// pages before it when somebody goes there, and what comes is put behind.

import type { LiveRow } from '@orrery/client/browser';
import type { OrreryEvent, TranscriptPage } from '@orrery/protocol';

export type Row = { readonly key: string; readonly event: OrreryEvent };

/** What is there of a transcript. `older`: what to ask for the page before; null: this is all. */
export type Transcript = { readonly rows: readonly Row[]; readonly older: string | null };

export const emptyTranscript: Transcript = { rows: [], older: null };

export type TranscriptKeeper = {
  /** The page before all that is there; the first one that is given is the newest. */
  readonly page: (page: TranscriptPage) => void;
  /** What came since, in its order; what is known already is passed over. */
  readonly events: (events: readonly OrreryEvent[]) => void;
  /** The rows, as a value that does not change. */
  readonly now: () => Transcript;
  /** The newest event that is in it. */
  readonly newest: () => number;
};

/** Keeps the rows of one session. A step costs what comes, and not what is there. */
export const keepTranscript = (): TranscriptKeeper => {
  let rows: Row[] = [];
  let older: string | null = null;
  let newest: number | null = null;
  // Places count on to both sides: a row keeps its own when others are put before it.
  let first = 0;
  const places = new Map<string, number>();
  const put = (key: string, event: OrreryEvent): void => {
    const place = places.get(key);
    if (place === undefined) places.set(key, first + rows.push({ key, event }) - 1);
    else rows[place - first] = { key, event };
  };
  const drop = (keys: ReadonlySet<string>): void => {
    rows = rows.filter(({ key }) => !keys.has(key));
    places.clear();
    rows.forEach(({ key }, index) => places.set(key, first + index));
  };
  return {
    page: ({ items, nextCursor, sequence }) => {
      const before = items.map(({ event }) => ({ key: keyOf(event), event })).filter(({ event }) => isShown(event));
      // A revision came of a row whose place was not read yet: it goes there.
      const moved = before.filter(({ key }) => places.has(key)).map(({ key }) => key);
      const placed = before.map((row) => {
        const place = places.get(row.key);
        return place === undefined ? row : rows[place - first]!;
      });
      if (moved.length > 0) drop(new Set(moved));
      first -= placed.length;
      placed.forEach(({ key }, index) => places.set(key, first + index));
      rows = [...placed, ...rows];
      older = nextCursor;
      newest ??= sequence;
    },
    events: (events) => {
      rows = [...rows];
      for (const event of events) {
        if (event.sequence === null || event.sequence <= (newest ?? 0)) continue;
        newest = event.sequence;
        if (isShown(event)) put(keyOf(event), event);
      }
    },
    now: () => ({ rows, older }),
    newest: () => newest ?? 0,
  };
};

/** Rows that are looked through for one that is written on: what is being written stands near the end. */
const NEAR_END = 200;

/** With what is being written, each at the place where its row stands, or behind all. The rest is the same value. */
export const withLive = (transcript: Transcript, live: readonly LiveRow[], sessionId: string): Transcript => {
  if (live.length === 0) return transcript;
  const rows = [...transcript.rows];
  for (const row of live) {
    const event = liveEvent(row, sessionId);
    const key = keyOf(event);
    const from = Math.max(0, rows.length - NEAR_END);
    const place = rows.slice(from).findIndex((one) => one.key === key);
    if (place === -1) rows.push({ key, event });
    else rows[from + place] = { key, event };
  }
  return { ...transcript, rows };
};

/** As the row that it will be, which is not stored yet. */
const liveEvent = ({ kind, row, text }: LiveRow, sessionId: string): OrreryEvent => ({
  ...{ seq: 0, at: '', taskId: null, sessionId, sequence: null, turn: null },
  body:
    kind === 'tool.result'
      ? { kind, row, tool: null, output: text, outputBytes: text.length, failed: false }
      : { kind, row, text },
});

const keyOf = ({ sequence, body }: OrreryEvent): string => ('row' in body ? `${body.kind}:${body.row}` : `#${sequence}`);

/** States and bookkeeping are shown elsewhere on the page. */
const isShown = ({ body }: OrreryEvent): boolean =>
  !['state', 'turn.started', 'turn.dispatched', 'queue.changed', 'usage', 'context', 'interaction.opened'].includes(body.kind);
