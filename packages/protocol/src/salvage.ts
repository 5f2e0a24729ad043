import { z } from 'zod';
import { instant } from './scalars.ts';

/** Work that was saved before something was removed. */
export const salvage = z.object({
  id: z.string(),
  projectId: z.string(),
  projectName: z.string(),
  taskId: z.string().nullable(),
  /** `refs/orrery/salvage/<task>/<n>` in the project's mirror. */
  ref: z.string(),
  sha: z.string(),
  reason: z.string(),
  files: z.int(),
  createdAt: instant,
});
export type Salvage = z.output<typeof salvage>;
export const salvageRestore = z.strictObject({
  /** Branch to make in the user's repository; nothing checked out is touched. */
  branch: z.string().min(1).max(200).optional(),
});
export const salvageRestored = z.object({ id: z.string(), branch: z.string(), sha: z.string() });
