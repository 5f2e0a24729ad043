// What `codex exec --json` writes: a JSON object per line, `type` first.

import { z } from 'zod';

const id = z.string();

/** Items that this adapter shows; others are drift. */
export const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning'), id, text: z.string() }),
  z.object({ type: z.literal('agent_message'), id, text: z.string() }),
  z.object({
    type: z.literal('command_execution'),
    id,
    command: z.string(),
    aggregated_output: z.string().nullish(),
    exit_code: z.int().nullish(),
    status: z.string(),
  }),
  z.object({
    type: z.literal('file_change'),
    id,
    changes: z.array(z.object({ path: z.string(), kind: z.string() })),
    status: z.string(),
  }),
  z.object({
    type: z.literal('mcp_tool_call'),
    id,
    server: z.string(),
    tool: z.string(),
    arguments: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
    status: z.string(),
  }),
  z.object({ type: z.literal('web_search'), id, query: z.string() }),
  z.object({ type: z.literal('todo_list'), id, items: z.array(z.object({ text: z.string(), completed: z.boolean() })) }),
  z.object({ type: z.literal('error'), id, message: z.string() }),
]);
export type Item = z.output<typeof item>;

export const threadStarted = z.object({ thread_id: z.string() });
export const itemFrame = z.object({ item });
export const errorFrame = z.object({ message: z.string() });
export const failedFrame = z.object({ error: z.object({ message: z.string() }) });
