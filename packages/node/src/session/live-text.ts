// Text of rows while they are written: in memory alone, bounded, and gone with the node. What is stored takes its place.

import type { LiveKind, OrreryEvent } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import { LIVE_FRAME_MS, LIVE_ROW_CHARS, LIVE_ROWS } from '../kernel/limits.ts';
import type { Store } from '../store/store.ts';

/** A row that is being written. `epoch` changes when its text begins anew. */
export type LiveRow = { readonly kind: LiveKind; readonly row: string; readonly text: string; readonly epoch: number };

/** What is said of a row: its whole text so far, or what comes behind it. */
export type LiveNews = { readonly kind: LiveKind; readonly row: string } & (
  | { readonly text: string }
  | { readonly append: string }
);

export type LiveTexts = {
  add(session: string, news: LiveNews): void;
  /** The row is whole: its stored form comes next. */
  over(session: string, row: Pick<LiveRow, 'kind' | 'row'>): void;
  /** Nothing is written any more. */
  clear(session: string): void;
  rows(session: string): readonly LiveRow[];
  /** Calls back after changes, at most once in `LIVE_FRAME_MS`. */
  watch(session: string, changed: () => void): () => void;
  close(): void;
};

type Row = { kind: LiveKind; row: string; text: string; epoch: number };
type Session = { rows: Map<string, Row>; readonly watchers: Set<() => void>; told: boolean };

export const createLiveTexts = ({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'subscribe'>;
  readonly clock: Pick<Clock, 'sleep'>;
}): LiveTexts => {
  const sessions = new Map<string, Session>();
  const stop = new AbortController();
  let epochs = 0;

  const keep = (id: string): Session => {
    const known = sessions.get(id);
    if (known !== undefined) return known;
    const made: Session = { rows: new Map(), watchers: new Set(), told: true };
    sessions.set(id, made);
    return made;
  };
  const drop = (id: string, session: Session): void => {
    if (session.rows.size === 0 && session.watchers.size === 0) sessions.delete(id);
  };
  /** Says it once to those who watch, after a while in which more may come. */
  const tell = (session: Session): void => {
    if (!session.told || session.watchers.size === 0) return;
    session.told = false;
    const say = (): void => {
      session.told = true;
      for (const changed of session.watchers) changed();
    };
    clock.sleep(LIVE_FRAME_MS, stop.signal).then(say, () => undefined);
  };
  const unsubscribe = store.subscribe((events) => {
    for (const event of events) anew(sessions, event, () => ++epochs);
  });

  return {
    add: (id, news) => {
      const session = keep(id);
      const key = keyOf(news);
      const row = session.rows.get(key);
      if (row === undefined) {
        // Of a row that began before anybody listened only the whole is shown, when it is stored.
        if ('append' in news || session.rows.size >= LIVE_ROWS) return drop(id, session);
        session.rows.set(key, { kind: news.kind, row: news.row, text: clipped(news.text), epoch: ++epochs });
      } else {
        const text = clipped('append' in news ? row.text + news.append : news.text);
        if (!('append' in news) && !text.startsWith(row.text)) row.epoch = ++epochs;
        row.text = text;
      }
      tell(session);
    },
    over: (id, row) => {
      const session = sessions.get(id);
      if (session?.rows.delete(keyOf(row)) === true) drop(id, session);
    },
    clear: (id) => {
      const session = sessions.get(id);
      if (session === undefined) return;
      session.rows.clear();
      drop(id, session);
    },
    rows: (id) => [...(sessions.get(id)?.rows.values() ?? [])],
    watch: (id, changed) => {
      const session = keep(id);
      session.watchers.add(changed);
      return () => {
        session.watchers.delete(changed);
        drop(id, session);
      };
    },
    close: () => {
      unsubscribe();
      stop.abort();
    },
  };
};

const keyOf = ({ kind, row }: Pick<LiveRow, 'kind' | 'row'>): string => `${kind} ${row}`;

/** What is longer is shown when it is whole. */
const clipped = (text: string): string => (text.length <= LIVE_ROW_CHARS ? text : text.slice(0, LIVE_ROW_CHARS));

/** A row that goes on after a part of it was stored begins anew for whoever reads: the stored row took its place. */
const anew = (sessions: ReadonlyMap<string, Session>, { sessionId, body }: OrreryEvent, epoch: () => number): void => {
  if (sessionId === undefined || !('row' in body)) return;
  const row = sessions.get(sessionId)?.rows.get(`${body.kind} ${body.row}`);
  if (row !== undefined) row.epoch = epoch();
};
