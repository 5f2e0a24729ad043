import { z } from 'zod';
import { instant } from './scalars.ts';

/**
 * Work that was saved before something was removed. `commit`: a commit of the project, with a ref. `archive`: files that
 * were in a place elsewhere which nobody came back to; its id is that of the environment.
 */
export const salvage = z.object({
  id: z.string(),
  kind: z.enum(['commit', 'archive']),
  projectId: z.string().nullable(),
  projectName: z.string(),
  taskId: z.string().nullable(),
  /** `refs/orrery/salvage/<task>/<n>` in the project's mirror; null for an archive. */
  ref: z.string().nullable(),
  sha: z.string().nullable(),
  reason: z.string(),
  /** null: it was not counted. */
  files: z.int().nullable(),
  /** Of an archive. */
  bytes: z.int().nullable(),
  createdAt: instant,
});
export type Salvage = z.output<typeof salvage>;
export const salvageRestore = z.strictObject({
  /** Branch to make in the user's repository; nothing checked out is touched. For a commit. */
  branch: z.string().min(1).max(200).optional(),
  /** Folder to make on the machine of the node and to unpack into; for an archive, by the owner. */
  folder: z.string().min(1).max(4_096).optional(),
});
/** A commit comes back as a branch, an archive as a folder. */
export const salvageRestored = z.object({
  id: z.string(),
  branch: z.string().nullable(),
  sha: z.string().nullable(),
  folder: z.string().nullable(),
});
export const salvagePrune = z.strictObject({ dryRun: z.boolean().default(true), olderThanMs: z.int().min(0) });
/** What retention took of saved work, or would take. */
export const salvagePruned = z.object({
  dryRun: z.boolean(),
  items: z.array(salvage.pick({ id: true, kind: true, ref: true, bytes: true, createdAt: true })),
});
