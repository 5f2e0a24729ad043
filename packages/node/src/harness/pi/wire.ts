// What Pi writes with `--mode json`: a JSON object per line, `type` first.

import { z } from 'zod';

export const contentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.unknown().optional() }),
]);

const usage = z.object({
  input: z.int().catch(0),
  output: z.int().catch(0),
  cacheRead: z.int().catch(0),
  cacheWrite: z.int().catch(0),
});

export const sessionFrame = z.object({ id: z.string() });

/** The end of one message. A failed model call has `stopReason` error and its words in `errorMessage`. */
export const messageEnd = z.object({ message: z.looseObject({ role: z.string() }) });
export const assistantMessage = z.object({
  content: z.array(z.unknown()),
  model: z.string().optional(),
  stopReason: z.string(),
  errorMessage: z.string().nullish(),
  usage: usage.nullish(),
});

export const toolEnd = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  result: z.object({ content: z.array(z.looseObject({ type: z.string() })).catch([]) }).nullish(),
  isError: z.boolean(),
});

export const retryStart = z.object({ attempt: z.number(), maxAttempts: z.number(), errorMessage: z.string() });
export const settledFrame = z.object({ aborted: z.boolean().optional() });

/** `response` in the mode rpc: to a request of ours, by its id. */
export const rpcResponse = z.object({
  id: z.string().optional(),
  command: z.string(),
  success: z.boolean(),
  error: z.string().optional(),
  data: z.unknown().optional(),
});

/** What `get_state` tells. */
export const stateAnswer = z.object({
  sessionId: z.string(),
  model: z.object({ id: z.string(), contextWindow: z.int().nullish() }).nullish().catch(null),
  thinkingLevel: z.string().nullish().catch(null),
});

/** What `get_fork_messages` tells: everything that people said, oldest first. */
export const forkMessages = z.object({ messages: z.array(z.object({ entryId: z.string() })) });

const catalogue = z.object({
  commands: z.array(z.object({ name: z.string(), description: z.string().catch('') })).catch([]),
  models: z.array(z.object({ id: z.string(), name: z.string().optional() })).catch([]),
});

/** Commands or models that it reported. */
export const catalogueOf = (data: unknown) => {
  const found = catalogue.safeParse(data).data;
  return {
    commands: found?.commands ?? [],
    models: (found?.models ?? []).map(({ id, name }) => ({ id, name: name ?? id, efforts: [] as readonly string[] })),
  };
};

const said = z.object({
  message: z.object({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) }),
});

/** The words of a message. */
export const userText = (frame: unknown): string => {
  const content = said.safeParse(frame).data?.message.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('');
};
