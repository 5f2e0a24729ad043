// Glossary. The store keeps every durable fact of the node. A transaction is opened by the use case that starts it and
// passed down; each slice writes its own tables in it. The event table is append-only and is the outbox.

import type { EventBody, OrreryEvent } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An event to append: of a task, of a session (`taskId` null), or node-wide without a `sequence` (neither). */
export type NewEvent = {
  readonly taskId: string | null;
  readonly sessionId?: string;
  readonly turn: number | null;
  readonly body: EventBody;
  /** When it was, ms: of one that is told again in another log. Absent: now. */
  readonly atMs?: number;
};

/** A stored event as the text it has on the wire, made without reading its body, and what it is chosen by. */
export type EventText = { readonly seq: number; readonly sequence: number | null; readonly kind: string; readonly json: string };

/** Events above a cursor: of a task or session by their `sequence`, else (null) of the node by `seq`. */
export type EventTextQuery = {
  readonly owner: string | null;
  readonly after: number;
  readonly limit: number;
  /** The page ends with the event that reaches so many characters. */
  readonly chars: number;
};

/** A page of a session's log that ends before a sequence; null: at its end. */
export type TranscriptQuery = { readonly session: string; readonly before: number | null; readonly limit: number };

/** The newest revision of a row, and the sequence at which the row stood first. */
export type TranscriptRow = { readonly firstSequence: number; readonly event: OrreryEvent };

/** Words to find: all of them. */
export type SearchQuery = {
  readonly terms: readonly { readonly text: string; readonly prefix: boolean }[];
  readonly session: string | null;
  readonly project: string | null;
  /** The seq that the page ends before; null: at the newest. */
  readonly before: number | null;
  readonly limit: number;
};

/** An event that holds them. In the snippet U+0001 and U+0002 stand around each word that was found. */
export type FoundWords = {
  readonly seq: number;
  readonly at: string;
  readonly sequence: number;
  readonly turn: number | null;
  readonly kind: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly projectId: string;
  readonly snippet: string;
};

/** A running transaction. Only SQL may be awaited inside: the writer is shared. */
export type Tx = {
  readonly db: Kysely<Tables>;
  /** Appends in this transaction; answers the events with `seq` and `sequence`. */
  append(events: readonly NewEvent[]): Promise<readonly OrreryEvent[]>;
};

/** Everything durable. One per data directory. */
export type Store = {
  /** Reads only; a consistent view of what is committed. */
  readonly read: Kysely<Tables>;
  /** Runs `job` in one durable transaction (group commit with others that wait). Rejects and rolls back alone when the job throws. */
  transaction<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  /** Appends events durably, many callers per commit; the fast path for output and conversation events. */
  append(events: readonly NewEvent[]): Promise<readonly OrreryEvent[]>;
  /** The newest committed node `seq`. */
  seq(): number;
  events(query: { readonly after: number; readonly limit: number }): Promise<readonly OrreryEvent[]>;
  /** Events of a task or a session. */
  ownEvents(query: { readonly owner: string; readonly after: number; readonly limit: number }): Promise<readonly OrreryEvent[]>;
  /** A session's newest events before a sequence, oldest first. */
  eventsBefore(query: TranscriptQuery): Promise<readonly OrreryEvent[]>;
  /** The same of its rows: `before` and the order are those of their first places. */
  transcriptRows(query: TranscriptQuery): Promise<readonly TranscriptRow[]>;
  /** What sessions said and were told, newest first. */
  searchWords(query: SearchQuery): Promise<readonly FoundWords[]>;
  /** Events as texts, for whoever only passes them on. */
  eventTexts(query: EventTextQuery): Promise<readonly EventText[]>;
  /** Called after each commit that appended events, with those events in order. Never called from inside a transaction. */
  subscribe(listener: (events: readonly OrreryEvent[]) => void): () => void;
  close(): Promise<void>;
};
