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

/** A part of an attachment's bytes. `missing`: the session has no such attachment, or its bytes are gone. */
export const attachmentPart = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('here'),
    mediaType: z.string(),
    /** Of the whole attachment. */
    bytes: z.int(),
    /** Where this part begins. */
    offset: z.int(),
    base64: z.string(),
    /** `offset` of the next part; null: this was the last. */
    nextOffset: z.int().nullable(),
  }),
  z.object({ state: z.literal('missing') }),
]);
export type AttachmentPart = z.output<typeof attachmentPart>;

/** An attachment as an input or an event names it. */
export const attachmentFacts = attachmentView.pick({ id: true, name: true, mediaType: true, bytes: true });
export type AttachmentFacts = z.output<typeof attachmentFacts>;
