import { z } from 'zod';

// What a conversation holds beside words and tool calls (contracts/sessions.md).

/** One thing of a plan or a to-do list. */
export const planEntry = z.object({ text: z.string(), status: z.enum(['pending', 'active', 'done']) });
export type PlanEntry = z.output<typeof planEntry>;

/** `detached`: what it ran under has ended, and nobody knows how it went on. */
export const workState = z.enum(['running', 'completed', 'failed', 'stopped', 'detached']);

/** How full the model's window is, as the program counts it. `windowTokens` null: the program did not say. */
export const contextUse = z.object({ usedTokens: z.int(), windowTokens: z.int().nullable() });
export type ContextUse = z.output<typeof contextUse>;

/** A picture that a tool gave back. Its base64 is the detail of that locator; null: it is not kept. */
export const toolPicture = z.object({
  mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  bytes: z.int(),
  locator: z.string().nullable(),
});
export type ToolPicture = z.output<typeof toolPicture>;

/** Kinds of events of a conversation, beside words and tools. */
export const contentBodies = [
  /** The whole plan, each time it changes. */
  z.object({ kind: z.literal('plan'), row: z.string(), entries: z.array(planEntry) }),
  z.object({ kind: z.literal('context'), ...contextUse.shape }),
  /** What was said so far was replaced by a summary of it. */
  z.object({
    kind: z.literal('compacted'),
    trigger: z.enum(['manual', 'auto']),
    beforeTokens: z.int().nullable(),
    afterTokens: z.int().nullable(),
  }),
  /** A sub-agent; events that are its own name it by this row. */
  z.object({
    kind: z.literal('agent'),
    row: z.string(),
    name: z.string(),
    state: workState,
    /** What it came to, in the program's words. */
    summary: z.string().nullable(),
  }),
  /** A command that goes on beside the turn. */
  z.object({
    kind: z.literal('background'),
    row: z.string(),
    name: z.string(),
    state: workState,
    summary: z.string().nullable(),
  }),
] as const;

/** On an event that is not the program's own: the row of the sub-agent that it is of. */
export const ofAgent = { agent: z.string().optional() };
