/** Anthropic Messages: `POST …/messages`. https://docs.anthropic.com/en/api/messages */
import { asList, asObject, asString } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { ModelCall, Reply, ReplyPart, ToolOffer, Turn } from '../model-call.ts';
import type { Refusal } from '../refusal.ts';
import { argumentPieces, textPieces } from './wire.ts';
import type { Wire, WireEvent } from './wire.ts';

/** Stands where a provider would sign its reasoning. */
const SIGNATURE = 'c2NyaXB0ZWQ=';

export const anthropic: Wire = {
  name: 'anthropic',
  accepts: (path) => path.endsWith('/messages'),
  read,
  stream,
  whole,
  refuse,
  unknown: () => ({ type: 'x_surprise', surprise: true }),
  refusalHeaders,
};

function read(body: JsonObject): ModelCall {
  return {
    model: asString(body['model']),
    stream: body['stream'] === true,
    system: blockText(body['system']),
    effort: effortOf(body),
    tools: asList(body['tools']).map(asObject).map(toolOf),
    turns: asList(body['messages']).map(asObject).flatMap(turnsOf),
    schema: asObject(asObject(body['output_config'])['format'])['schema'],
  };
}

function effortOf(body: JsonObject): string | undefined {
  const effort = asObject(body['output_config'])['effort'];
  if (typeof effort === 'string') return effort;
  const thinking = asObject(body['thinking']);
  if (typeof thinking['type'] !== 'string') return undefined;
  return thinking['budget_tokens'] === undefined
    ? thinking['type']
    : `${thinking['type']}:${JSON.stringify(thinking['budget_tokens'])}`;
}

function toolOf(tool: JsonObject): ToolOffer {
  return {
    name: asString(tool['name'], asString(tool['type'])),
    freeform: false,
    properties: asObject(asObject(tool['input_schema'])['properties']),
  };
}

function turnsOf(message: JsonObject): Turn[] {
  const role = message['role'] === 'assistant' || message['role'] === 'system' ? message['role'] : 'user';
  const { content } = message;
  if (typeof content === 'string') return [{ role, text: content }];
  const blocks = asList(content).map(asObject);
  const results = blocks
    .filter((block) => block['type'] === 'tool_result')
    .map((block): Turn => ({ role: 'tool', text: blockText(block['content']) }));
  const others = blocks.filter((block) => block['type'] !== 'tool_result');
  return others.length === 0 ? results : [...results, { role, text: blockText(others) }];
}

function blockText(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((block) => asString(asObject(block)['text']))
    .filter((text) => text !== '')
    .join('\n');
}

function usageOf(reply: Reply, output: number): JsonObject {
  return {
    input_tokens: reply.usage.input,
    output_tokens: output,
    cache_read_input_tokens: reply.usage.cached,
    cache_creation_input_tokens: 0,
  };
}

function stopReason(reply: Reply): string {
  return reply.parts.some((part) => part.kind === 'tool' || part.kind === 'freeform') ? 'tool_use' : 'end_turn';
}

function* stream(call: ModelCall, reply: Reply): Iterable<WireEvent> {
  const message = {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: call.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf(reply, 1),
  };
  yield named('message_start', { message });
  for (const [index, part] of reply.parts.entries()) {
    yield named('content_block_start', { index, content_block: emptyBlock(part) });
    for (const delta of deltas(part)) yield named('content_block_delta', { index, delta });
    yield named('content_block_stop', { index });
  }
  yield named('message_delta', {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: usageOf(reply, reply.usage.output),
  });
  yield named('message_stop', {});
}

function emptyBlock(part: ReplyPart): JsonObject {
  if (part.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (part.kind === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id: `toolu_${part.id}`, name: part.name, input: {} };
}

function deltas(part: ReplyPart): JsonObject[] {
  switch (part.kind) {
    case 'thinking':
      return [
        ...textPieces(part).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: SIGNATURE },
      ];
    case 'text':
      return textPieces(part).map((text) => ({ type: 'text_delta', text }));
    case 'tool':
      return argumentPieces(JSON.stringify(part.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    case 'freeform':
      return argumentPieces(JSON.stringify({ input: part.text })).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
  }
}

function whole(call: ModelCall, reply: Reply): JsonObject {
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: call.model,
    content: reply.parts.map(fullBlock),
    stop_reason: stopReason(reply),
    stop_sequence: null,
    usage: usageOf(reply, reply.usage.output),
  };
}

function fullBlock(part: ReplyPart): JsonObject {
  const block = emptyBlock(part);
  if (part.kind === 'thinking') return { ...block, thinking: part.text, signature: SIGNATURE };
  if (part.kind === 'text') return { ...block, text: part.text };
  return { ...block, input: part.kind === 'tool' ? part.input : { input: part.text } };
}

function refuse(refusal: Refusal): JsonObject {
  return { type: 'error', error: { type: refusal.anthropicType, message: refusal.message }, request_id: `req_${refusal.name}` };
}

/** A subscription's limit is told by headers; the body reads like any 429. */
function refusalHeaders(refusal: Refusal): Record<string, string> {
  if (refusal.resetsAt === undefined) return {};
  const prefix = 'anthropic-ratelimit-unified';
  return {
    [`${prefix}-status`]: 'rejected',
    [`${prefix}-reset`]: String(refusal.resetsAt),
    [`${prefix}-representative-claim`]: 'five_hour',
  };
}

function named(event: string, members: JsonObject): WireEvent {
  return { event, payload: { type: event, ...members } };
}
