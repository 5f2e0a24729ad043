import { z } from 'zod';
import { piContent } from './content.ts';
import { written } from './live.ts';
import { piDialect, piState } from './translate.ts';

/** What is remembered of a process. */
export const state = z.object({
  inner: piState,
  turn: z.int().nullable(),
  requests: z.int(),
  /** The words of the turn stand before the model. Before that it may pass over a stop. */
  heard: z.boolean().default(false),
  /** A stop that may have been passed over. */
  stop: z.boolean().default(false),
  /** Steers that the program has and the model does not, oldest first. */
  steers: z.array(z.object({ key: z.string(), text: z.string() })),
  commands: z.array(z.object({ name: z.string(), description: z.string() })),
  content: piContent,
  /** Kinds of which the response that is written has a part already. */
  written,
  /** What people said in the conversation so far, in messages: its place. Null: it is not known yet. */
  users: z.int().nullable().default(null),
  /** The place at which it is to branch; null: at its end. Undefined: it is not to branch, or has. */
  branch: z.string().nullable().optional(),
});
export type State = z.output<typeof state>;

/** What a prompt cannot be told apart by once it is running: the node keeps the order. */
export const fresh = (conversation: string | null): State['inner'] => ({ ...piDialect.initial, conversation });
