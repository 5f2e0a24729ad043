import { z } from 'zod';
import { operation } from './operation.ts';
import { instant } from './scalars.ts';

/** One port of one environment, to be opened in a browser. */
const previewLink = z.object({
  environmentId: z.string(),
  port: z.int(),
  /** Where the preview is, for browsers that were let in. */
  origin: z.string(),
  /** Lets one browser in, once. */
  link: z.string(),
  /** Until when the link can be opened. */
  linkUntil: instant,
  /** Why there is nothing to see yet; null: a program listens. */
  problem: z.string().nullable(),
});
export type PreviewLink = z.output<typeof previewLink>;

/** Operations on previews. `:id` is an environment's id or name, or a task. */
export const previewOperations = {
  previewOpen: operation({
    method: 'post',
    path: '/environments/:id/ports/:port/preview',
    scope: 'operator',
    summary: 'Open a port of an environment to a browser: an address of its own, and a link that lets one browser in.',
    params: z.object({ id: z.string().min(1).max(200), port: z.coerce.number().int().min(1).max(65_535) }),
    body: z.strictObject({}),
    answer: previewLink,
    status: 201,
  }),
} as const;
