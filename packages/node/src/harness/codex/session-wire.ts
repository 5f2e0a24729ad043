// What Codex says as `codex app-server`: JSON-RPC without its version member, one object per line. Tolerant: fields that
// this adapter does not need are not looked at.

import { z } from 'zod';

/** The first id of a request of its own is 0: an id is never tested for truth. */
const requestId = z.union([z.number(), z.string()]);

/** The answer to a request of ours. */
export const answerFrame = z.object({
  id: requestId,
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** It wants something decided, or answered. */
export const requestFrame = z.object({ id: requestId, method: z.string(), params: z.looseObject({}).catch({}) });

export const threadAnswer = z.object({
  thread: z.object({ id: z.string(), turns: z.array(z.object({ id: z.string() })).catch([]) }),
  approvalPolicy: z.unknown().optional(),
});
/** Model and effort of a thread, in its own answers. */
export const threadSettings = z.object({
  thread: z.object({
    model: z.string().nullable().catch(null),
    reasoningEffort: z.string().nullable().catch(null),
  }),
});
export const turnAnswer = z.object({ turn: z.object({ id: z.string() }) });

export const modelList = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        displayName: z.string().optional(),
        hidden: z.boolean().catch(false),
        supportedReasoningEfforts: z.array(z.object({ reasoningEffort: z.string() })).catch([]),
      }),
    )
    .catch([]),
});

const status = z.string();

const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('userMessage'), id: z.string(), content: z.array(z.looseObject({ type: z.string() })) }),
  z.object({ type: z.literal('agentMessage'), id: z.string(), text: z.string() }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.string()).catch([]),
    content: z.array(z.string()).catch([]),
  }),
  z.object({ type: z.literal('plan'), id: z.string(), text: z.string() }),
  z.object({
    type: z.literal('commandExecution'),
    id: z.string(),
    command: z.string(),
    status,
    aggregatedOutput: z.string().nullish(),
    exitCode: z.number().nullish(),
  }),
  z.object({
    type: z.literal('fileChange'),
    id: z.string(),
    status,
    changes: z.array(
      z.object({
        path: z.string(),
        /** One that is moved says where to. */
        kind: z.object({ move_path: z.string().nullish() }).nullish().catch(null),
        diff: z.string().catch(''),
      }),
    ),
  }),
  z.object({
    type: z.literal('mcpToolCall'),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    status,
    arguments: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
  z.object({ type: z.literal('webSearch'), id: z.string(), query: z.string().catch('') }),
  z.object({ type: z.literal('contextCompaction'), id: z.string() }),
  z.object({
    type: z.literal('collabAgentToolCall'),
    id: z.string(),
    tool: z.string(),
    status,
    prompt: z.string().nullish(),
  }),
  /** What a sub-agent does comes in its own thread. */
  z.object({ type: z.literal('subAgentActivity'), id: z.string() }),
]);
export type ThreadItem = z.output<typeof item>;
export const itemNotice = z.object({ params: z.object({ item }) });

const tokens = z.object({ inputTokens: z.int(), outputTokens: z.int(), cachedInputTokens: z.int().catch(0) });
export const tokenNotice = z.object({
  params: z.object({
    tokenUsage: z.object({
      total: tokens,
      last: tokens.extend({ totalTokens: z.int().catch(0) }),
      modelContextWindow: z.int().nullish(),
    }),
  }),
});

const turnError = z.object({
  message: z.string(),
  codexErrorInfo: z.unknown().optional(),
  additionalDetails: z.string().nullish(),
});
export type TurnError = z.output<typeof turnError>;

export const errorNotice = z.object({ params: z.object({ error: turnError, willRetry: z.boolean().catch(false) }) });
export const turnNotice = z.object({
  params: z.object({ turn: z.object({ id: z.string(), status: z.string(), error: turnError.nullish() }) }),
});
export const resolvedNotice = z.object({ params: z.object({ requestId }) });

/** An MCP server, or the program for it, wants something filled in or agreed to. */
export const elicitation = z.object({
  serverName: z.string(),
  mode: z.string().catch('form'),
  message: z.string().catch(''),
  requestedSchema: z.unknown().optional(),
  url: z.string().nullish(),
  _meta: z
    .looseObject({ codex_approval_kind: z.unknown(), tool_params: z.unknown(), persist: z.unknown() })
    .nullish()
    .catch(null),
});

/** Questions of the agent's own. */
export const userInput = z.object({
  questions: z.array(
    z.object({
      id: z.string(),
      header: z.string().nullable().catch(null),
      question: z.string(),
      isOther: z.boolean().catch(false),
      isSecret: z.boolean().catch(false),
      options: z
        .array(z.object({ label: z.string(), description: z.string().nullable().catch(null) }))
        .nullish()
        .catch(null),
    }),
  ),
});

/** What is to be decided, of a command or of a change of files. */
export const approval = z.object({
  itemId: z.string().catch(''),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  reason: z.string().nullish(),
  grantRoot: z.string().nullish(),
});
