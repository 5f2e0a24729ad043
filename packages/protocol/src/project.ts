import { z } from 'zod';
import { instant, safeName } from './scalars.ts';

/** A repository or folder known to the node. */
export const project = z.object({
  id: z.string(),
  seq: z.int(),
  name: z.string(),
  /** Where it was added from: an absolute path or a URL. */
  source: z.string(),
  kind: z.enum(['repository', 'url']),
  defaultBranch: z.string().nullable(),
  headSha: z.string().nullable(),
  /** What is worth knowing about its shape: submodules, LFS, shallow … */
  notes: z.array(z.string()),
  hooks: z.array(z.string()),
  tasks: z.int(),
  createdAt: instant,
});
export type Project = z.output<typeof project>;

export const projectAdd = z.strictObject({
  source: z.string().min(1).max(4096),
  name: safeName.optional(),
  requestId: z.string().max(200).optional(),
});
export const projectSet = z.strictObject({ name: safeName.optional() });
