import { z } from 'zod';
import { instant } from './scalars.ts';

// A file that goes with an input: uploaded first, then named by a turn.

/** `mediaType` is what its bytes say, whatever its name says. */
export const attachmentView = z.object({
  id: z.string(),
  name: z.string(),
  mediaType: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  createdAt: instant,
  /** The answer to a request that was made before. */
  replayed: z.boolean(),
});
export type AttachmentView = z.output<typeof attachmentView>;

/** An attachment as an input or an event names it. */
export const attachmentFacts = attachmentView.pick({ id: true, name: true, mediaType: true, bytes: true });
export type AttachmentFacts = z.output<typeof attachmentFacts>;
