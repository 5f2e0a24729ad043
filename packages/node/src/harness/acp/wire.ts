// What an agent says in the Agent Client Protocol, version 1: JSON-RPC 2.0, one object per line. Tolerant: a field that
// this adapter does not need is not looked at, and one of another shape is as if it were not there.

import { z } from 'zod';

/** An id may be 0, a text, even null: it is never tested for truth. */
export const requestId = z.union([z.number(), z.string(), z.null()]);

/** The answer to a request of ours. */
export const answerFrame = z.object({
  id: requestId,
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string().catch(''), data: z.unknown().optional() }).optional(),
});
export type RpcError = NonNullable<z.output<typeof answerFrame>['error']>;

/** It wants something decided, or done. */
export const requestFrame = z.object({ id: requestId, method: z.string(), params: z.looseObject({}).catch({}) });

const given = z.unknown().transform((value) => value !== null && value !== undefined && value !== false);

export const initialized = z.object({
  protocolVersion: z.number(),
  authMethods: z.array(z.looseObject({ id: z.string() })).catch([]),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      sessionCapabilities: z.object({ resume: given }).catch({ resume: false }),
    })
    .catch({ loadSession: false, sessionCapabilities: { resume: false } }),
});

const choice = z.object({ value: z.string(), name: z.string().catch('') });
const configOption = z.object({
  id: z.string(),
  category: z.string().nullish().catch(null),
  currentValue: z.unknown(),
  options: z
    .array(z.unknown())
    .catch([])
    .transform((options) =>
      options.flatMap((option) => {
        const one = choice.safeParse(option).data;
        if (one !== undefined) return [one];
        const group = z.object({ options: z.array(z.unknown()) }).safeParse(option).data;
        return (group?.options ?? []).flatMap((inner) => choice.safeParse(inner).data ?? []);
      }),
    ),
});
export type ConfigOption = z.output<typeof configOption>;

/** What can be set, and how it is: modes and models in their own members, or all of it as options. */
export const settings = z.object({
  modes: z
    .object({ currentModeId: z.string(), availableModes: z.array(z.object({ id: z.string() })).catch([]) })
    .nullish()
    .catch(null),
  models: z
    .object({ availableModels: z.array(z.object({ modelId: z.string(), name: z.string().catch('') })).catch([]) })
    .nullish()
    .catch(null),
  configOptions: z
    .array(z.unknown())
    .nullish()
    .catch(null)
    .transform((options) => options?.flatMap((option) => configOption.safeParse(option).data ?? []) ?? []),
});
export type Settings = z.output<typeof settings>;

export const opened = z.object({ sessionId: z.string() });

const count = z.int().min(0).catch(0);
const usage = z.object({ inputTokens: count, outputTokens: count, cachedReadTokens: count.optional() });

/** The end of a turn. Tokens stand in one of two places, if anywhere. */
export const prompted = z.object({
  stopReason: z.string(),
  usage: usage.nullish().catch(null),
  _meta: z
    .object({ quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }) })
    .nullish()
    .catch(null),
});

export const updateNotice = z.object({
  params: z.object({ sessionId: z.string(), update: z.looseObject({ sessionUpdate: z.string() }) }),
});

/** A piece of a message; some tell the tokens of the model call with its last one. */
export const chunk = z.object({
  content: z.looseObject({ type: z.string() }),
  _meta: z.object({ usage }).nullish().catch(null),
});

const diff = z.object({
  type: z.literal('diff'),
  path: z.string(),
  oldText: z.string().nullish().catch(null),
  newText: z.string().catch(''),
});
export type Diff = z.output<typeof diff>;

const part = z.union([
  z.object({ type: z.literal('content'), content: z.looseObject({ type: z.string() }) }),
  diff,
  z.object({ type: z.literal('terminal'), terminalId: z.string() }),
]);
export type Part = z.output<typeof part>;

/** A call of a tool, whole or what changed of it. */
export const toolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
  kind: z.string().nullish().catch(null),
  status: z.string().nullish().catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  content: z
    .array(z.unknown())
    .nullish()
    .catch(null)
    .transform((parts) => parts?.flatMap((one) => part.safeParse(one).data ?? []) ?? null),
  locations: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(null),
  _meta: z.object({ toolName: z.string() }).nullish().catch(null),
});
export type ToolCall = z.output<typeof toolCall>;

export const permission = z.object({
  toolCall,
  options: z.array(z.object({ optionId: z.string(), kind: z.string().catch('') })).catch([]),
});

export const plan = z.object({
  entries: z.array(z.object({ content: z.string(), status: z.string().catch('pending') })).catch([]),
});
export const commands = z.object({
  availableCommands: z.array(z.object({ name: z.string(), description: z.string().catch('') })).catch([]),
});
export const usageUpdate = z.object({ used: z.int().min(0), size: z.int().min(0).catch(0) });
export const currentMode = z.object({ currentModeId: z.string() });
export const noticeUpdate = z.object({ severity: z.string().catch('info'), title: z.string() });
export const compaction = z.object({ status: z.string(), error: z.string().nullish().catch(null) });
export const cancelNotice = z.object({ params: z.object({ requestId }) });
