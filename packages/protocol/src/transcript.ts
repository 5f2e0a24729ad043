import { z } from 'zod';
import { event } from './event.ts';
import { instant } from './scalars.ts';

// A session's log as people read it (contracts/sessions.md, "The log").

/** A row: the newest revision of it, and the sequence at which it stood first. */
export const transcriptRow = z.object({ firstSequence: z.int(), event });
export type TranscriptRow = z.output<typeof transcriptRow>;

/** A page of rows, oldest first. */
export const transcriptPage = z.object({
  items: z.array(transcriptRow),
  /** `before` of the page before this one; null: there is none. */
  nextCursor: z.string().nullable(),
  /** The newest event of the session when this was read. */
  sequence: z.int(),
  seq: z.int(),
});
export type TranscriptPage = z.output<typeof transcriptPage>;

/** Words that were found. */
export const searchHit = z.object({
  seq: z.int(),
  at: instant,
  session: z.object({ id: z.string(), name: z.string() }),
  projectId: z.string(),
  sequence: z.int(),
  turn: z.int().nullable(),
  kind: z.enum(['user', 'text', 'tool.call']),
  /** The text around what was found, in pieces. */
  snippet: z.array(z.object({ text: z.string(), found: z.boolean() })),
});
export type SearchHit = z.output<typeof searchHit>;

/** Kinds of rows whose text is shown while it is written. */
export const liveKind = z.enum(['text', 'thinking', 'tool.result']);
export type LiveKind = z.output<typeof liveKind>;

/**
 * Text of a row while it is written: a frame `live` of a session's stream, without an id, for readers that asked with
 * `live=1`. It is not stored: the stored row takes its place, or the turn ends without it.
 */
export const liveText = z.object({
  kind: liveKind,
  row: z.string(),
  /** Characters (UTF-16) of the row that were sent before; 0 begins it anew. */
  at: z.int(),
  append: z.string(),
});
export type LiveText = z.output<typeof liveText>;

/** A part of a large text, by bytes, cut at characters. What is not there is said in band. */
export const detailPage = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('here'),
    /** Where this part begins. */
    offset: z.int(),
    text: z.string(),
    /** `offset` of the next part; null: this was the last. */
    nextOffset: z.int().nullable(),
    keptBytes: z.int(),
  }),
  z.object({ state: z.literal('missing') }),
]);
export type DetailPage = z.output<typeof detailPage>;
