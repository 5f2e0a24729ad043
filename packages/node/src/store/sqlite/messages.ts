import type { Fault } from './faults.ts';

// What crosses the thread between the node and the writer. Requests of one message run in order; the answer has one
// result for each. Everything is plain data, in arrays rather than objects where there are many.

/** Values that SQLite can bind. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * One event to insert: the id of its task or session, turn, kind, body as JSON, instant in milliseconds, and for a
 * session's: the name of its row and the words it is found by.
 */
export type AppendRow = readonly [
  owner: string | null,
  turn: number | null,
  kind: string,
  body: string,
  at: number,
  row: string | null,
  words: string | null,
];

/** The numbers one event got. */
export type AppendedRow = readonly [seq: number, sequence: number | null];

export type Request =
  /** Opens the transaction of a group. */
  | { readonly kind: 'begin' }
  /** Appends the events of several callers; each caller's part succeeds or fails as a whole. */
  | { readonly kind: 'append'; readonly parts: readonly (readonly AppendRow[])[] }
  /** Begins, ends or takes back the part of one job. */
  | { readonly kind: 'savepoint' }
  | { readonly kind: 'release' }
  | { readonly kind: 'rollbackTo' }
  | { readonly kind: 'sql'; readonly sql: string; readonly parameters: readonly SqlValue[] }
  /** Makes the group durable; answers only after the disk has it. */
  | { readonly kind: 'commit' }
  | { readonly kind: 'close' };

export type Result =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'appended'; readonly parts: readonly (readonly AppendedRow[] | Fault)[] }
  | {
      readonly kind: 'rows';
      readonly rows: readonly unknown[];
      readonly changes: number | null;
      readonly insertId: number | null;
    };

/** From the node. */
export type ToWriter = { readonly id: number; readonly requests: readonly Request[] };

/** To the node: once `opened` or `refused`, then one `results` for each message. */
export type FromWriter =
  | { readonly kind: 'opened'; readonly seq: number; readonly schema: number }
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'results'; readonly id: number; readonly results: readonly Result[] };

export type WriterSettings = { readonly file: string; readonly busyMs: number; readonly nowMs: number };
