// What Claude Code writes with `--output-format stream-json`: a JSON object per line, `type` first. Tolerant: fields that
// this adapter does not need are not looked at.

import { z } from 'zod';

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const block = z.discriminatedUnion('type', [
  textPart,
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('redacted_thinking') }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
  z.object({ type: z.literal('server_tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
]);

const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).optional(),
  is_error: z.boolean().nullish(),
});

/** `system`: the start of a turn, and news that need no row. */
export const systemFrame = z.object({
  type: z.literal('system'),
  subtype: z.string(),
  session_id: z.string().optional(),
  model: z.string().nullish(),
  attempt: z.number().optional(),
  max_retries: z.number().optional(),
  error_status: z.number().nullish(),
  error: z.string().nullish(),
});

/** `assistant`: one content block per line, lines of one model response share `message.id`. */
export const assistantFrame = z.object({
  type: z.literal('assistant'),
  message: z.object({ id: z.string(), content: z.array(z.unknown()) }),
  parent_tool_use_id: z.string().nullish(),
  is_api_error_message: z.boolean().nullish(),
  api_error_status: z.number().nullish(),
  api_error_type: z.string().nullish(),
  api_error: z.string().nullish(),
  error: z.string().nullish(),
});
export const assistantBlock = block;

/** `user`: the echo of the prompt (`isReplay`), or tool results. */
export const userFrame = z.object({
  type: z.literal('user'),
  message: z.object({ content: z.union([z.string(), z.array(z.unknown())]) }),
  parent_tool_use_id: z.string().nullish(),
  isReplay: z.boolean().nullish(),
});
export const userBlock = toolResult;
export const contentText = textPart;

/** `result`: the end of the turn. `is_error` decides, `subtype` says "success" for failed calls too. */
export const resultFrame = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  session_id: z.string().optional(),
  api_error_status: z.number().nullish(),
  terminal_reason: z.string().nullish(),
  result: z.string().nullish(),
  errors: z.array(z.string()).nullish(),
  usage: z
    .object({
      input_tokens: z.int().catch(0),
      output_tokens: z.int().catch(0),
      cache_read_input_tokens: z.int().catch(0),
      cache_creation_input_tokens: z.int().catch(0),
    })
    .nullish(),
});

/** `rate_limit_event`: the windows of a subscription. */
export const rateLimitFrame = z.object({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z
    .object({ status: z.string(), resetsAt: z.number().nullish(), rateLimitType: z.string().nullish() })
    .nullish(),
});

/** `control_request` from the program: it asks whether it may use a tool, or an MCP server wants something filled in. */
export const controlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.object({
    subtype: z.string(),
    tool_name: z.string().optional(),
    input: z.unknown().optional(),
    description: z.string().nullish(),
    permission_suggestions: z.unknown().optional(),
    mcp_server_name: z.string().optional(),
    message: z.string().nullish(),
    mode: z.string().nullish(),
    url: z.string().nullish(),
    requested_schema: z.unknown().optional(),
    property_order: z.array(z.string()).nullish().catch(null),
  }),
});

/** `control_cancel_request`: it no longer asks. */
export const controlCancel = z.object({ type: z.literal('control_cancel_request'), request_id: z.string() });

/** `control_response`: the answer to a request of ours. */
export const controlResponse = z.object({
  type: z.literal('control_response'),
  response: z.object({
    subtype: z.string(),
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.string().optional(),
  }),
});

/** An entry of the conversation itself; a sub-agent's entries name what they belong to. */
export const chainEntry = z.object({
  type: z.enum(['assistant', 'user']),
  uuid: z.string(),
  parent_tool_use_id: z.null().optional(),
});
