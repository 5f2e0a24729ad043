import { z } from 'zod';

// What somebody changed, file by file, as a person reviews it.

/** Files of which something is left out at once. */
const MAX_LEFT_OUT_FILES = 2_000;

/** One changed file. Counts are null for what is no text, sizes where that side has no file. */
export const changedFile = z.object({
  path: z.string(),
  oldPath: z.string().nullable(),
  status: z.string(),
  insertions: z.int().nullable(),
  deletions: z.int().nullable(),
  bytesBefore: z.int().nullable(),
  bytesAfter: z.int().nullable(),
});
export type ChangedFile = z.output<typeof changedFile>;

/** The files of a change; at most 2,000 are listed, `filesChanged` counts all. */
export const changeSet = z.object({
  baseSha: z.string(),
  headSha: z.string(),
  files: z.array(changedFile),
  filesChanged: z.int(),
  insertions: z.int(),
  deletions: z.int(),
});
export type ChangeSet = z.output<typeof changeSet>;

/** Lines that changed together, with those around them. */
export const hunk = z.object({
  /** Names it among those of its file. */
  key: z.string(),
  oldStart: z.int(),
  oldLines: z.int(),
  newStart: z.int(),
  newLines: z.int(),
  /** What stands behind the second `@@`: where in the file it is. */
  section: z.string(),
  /** Each with its mark: a space, `+`, `-`, or `\` for what Git says of a missing last line end. */
  lines: z.array(z.string()),
});
export type Hunk = z.output<typeof hunk>;

/** The change of one file; cut at 256 KiB, or 4 MiB when asked for whole, and then `truncated` says so. */
export const fileChange = z.object({
  path: z.string(),
  oldPath: z.string().nullable(),
  baseSha: z.string(),
  headSha: z.string(),
  /** No text, or too large for Git to compare as text. */
  binary: z.boolean(),
  /** The permissions and kind of the file, where they are others; null: it had, or has, none. */
  modes: z.object({ before: z.string().nullable(), after: z.string().nullable() }).nullable(),
  hunks: z.array(hunk),
  truncated: z.boolean(),
});
export type FileChange = z.output<typeof fileChange>;

/** The files of a session as they were when somebody looked. */
export const sessionChangeSet = changeSet.extend({
  /** Names this look, for asking what one of its files has. */
  look: z.string(),
  /** The newest event of its log then. */
  sequence: z.int(),
  /** What is not in it, in sentences. */
  notes: z.array(z.string()),
});
export type SessionChangeSet = z.output<typeof sessionChangeSet>;

/** Which file of a change. */
export const fileChangeQuery = z.object({
  path: z.string().min(1).max(4096),
  /** Its name before, where it was moved. */
  oldPath: z.string().min(1).max(4096).optional(),
  /** Up to 4 MiB of it. */
  whole: z.stringbool().default(false),
});

/** What of a change is left out: whole files, or hunks by their keys. */
export const leftOut = z
  .array(
    z.strictObject({
      path: z.string().min(1).max(4096),
      /** Keys of its hunks. Left out: the whole file. */
      hunks: z.array(z.string().min(1).max(60)).min(1).max(10_000).optional(),
    }),
  )
  .max(MAX_LEFT_OUT_FILES);
export type LeftOut = z.output<typeof leftOut>;
