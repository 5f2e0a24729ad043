import { z } from 'zod';

// What a turn program reads and writes (contracts/ports.md, "harnesses"): it is run once for each turn, finds its spec in
// the file that ORRERY_HARNESS_TURN names, and writes one JSON object a line.

/** What a turn program is given. Its credentials are the run token, which only the gateway takes. */
export const harnessTurnSpec = z.object({
  harness: z.string(),
  /** The same in each turn of a conversation. */
  sessionId: z.string(),
  prompt: z.string(),
  systemPrompt: z.string(),
  model: z.string().nullable(),
  workspaceDir: z.string(),
  /** A folder of the conversation's own, there from the first turn on. */
  sessionDir: z.string(),
  /** The conversation has turns already. */
  resume: z.boolean(),
  env: z.record(z.string(), z.string()),
  credentials: z.array(
    z.object({
      provider: z.string(),
      authType: z.string(),
      payload: z.string(),
      /** Where the provider is called: the gateway. */
      baseUrl: z.string(),
    }),
  ),
  tools: z.object({ command: z.array(z.string()), env: z.record(z.string(), z.string()) }),
  browser: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }).nullable(),
  scratchpad: z.string().nullable(),
  memory: z.string().nullable(),
  missionScratchpad: z.string().nullable(),
});
export type HarnessTurnSpec = z.output<typeof harnessTurnSpec>;

/** One part of a message. A part without a type that has a text is text. */
export const harnessTurnPart = z.union([
  z.object({ type: z.literal('thinking'), text: z.string() }),
  z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('toolResult'),
    callId: z.string(),
    name: z.string().optional(),
    text: z.string(),
    isError: z.boolean().optional(),
  }),
  z.object({ type: z.literal('text').optional(), text: z.string() }),
]);

const tokens = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** One line of a turn program. A line that is not a JSON object is its log. */
export const harnessTurnLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    message: z.object({
      messageId: z.string().optional(),
      role: z.enum(['ROLE_AGENT', 'ROLE_USER']),
      parts: z.array(z.unknown()).max(1_000),
    }),
  }),
  z.object({
    type: z.literal('usage'),
    models: z
      .array(
        z.object({
          provider: z.string(),
          model: z.string(),
          inputTokens: tokens.optional(),
          outputTokens: tokens.optional(),
          cachedTokens: tokens.optional(),
        }),
      )
      .max(100),
  }),
  z.object({ type: z.literal('result'), text: z.string() }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
