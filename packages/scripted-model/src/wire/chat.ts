/** OpenAI Chat Completions: `POST …/chat/completions`. https://platform.openai.com/docs/api-reference/chat */
import { asList, asObject, asString } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { ModelCall, Reply, ReplyPart, ToolOffer, Turn } from '../model-call.ts';
import { refuseAsOpenai } from './openai-refusal.ts';
import { argumentPieces, textPieces } from './wire.ts';
import type { Wire, WireEvent } from './wire.ts';

export const chat: Wire = {
  name: 'chat',
  accepts: (path) => path.endsWith('/chat/completions'),
  read,
  stream,
  whole,
  refuse: refuseAsOpenai,
  unknown: () => ({ id: 'x_surprise', object: 'x_surprise', created: 0, model: 'x', choices: [], surprise: true }),
  refusalHeaders: () => ({}),
};

function read(body: JsonObject): ModelCall {
  const turns = asList(body['messages']).map(asObject).map(turnOf);
  return {
    model: asString(body['model']),
    stream: body['stream'] === true,
    system: turns
      .filter((turn) => turn.role === 'system')
      .map((turn) => turn.text)
      .join('\n'),
    effort: asString(body['reasoning_effort'], asString(asObject(body['reasoning'])['effort'])) || undefined,
    tools: asList(body['tools']).map(asObject).map(toolOf),
    turns,
    schema: asObject(asObject(body['response_format'])['json_schema'])['schema'],
  };
}

function toolOf(tool: JsonObject): ToolOffer {
  const declared = asObject(tool[asString(tool['type'], 'function')]);
  return {
    name: asString(declared['name']),
    freeform: tool['type'] === 'custom',
    properties: asObject(asObject(declared['parameters'])['properties']),
  };
}

function turnOf(message: JsonObject): Turn {
  const role = message['role'];
  const text = contentText(message['content']);
  if (role === 'user' || role === 'assistant' || role === 'tool') return { role, text };
  return { role: 'system', text };
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => asString(asObject(part)['text']))
    .join('\n');
}

function usageOf({ usage }: Reply): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
}

function finishReason(reply: Reply): string {
  return reply.parts.some(isCall) ? 'tool_calls' : 'stop';
}

function isCall(part: ReplyPart): part is Extract<ReplyPart, { kind: 'tool' | 'freeform' }> {
  return part.kind === 'tool' || part.kind === 'freeform';
}

function argumentsOf(part: Extract<ReplyPart, { kind: 'tool' | 'freeform' }>): string {
  return part.kind === 'tool' ? JSON.stringify(part.input) : JSON.stringify({ input: part.text });
}

function* stream(call: ModelCall, reply: Reply): Iterable<WireEvent> {
  const shell = { id: `chatcmpl-${reply.id}`, object: 'chat.completion.chunk', created: reply.created, model: call.model };
  const chunk = (delta: JsonObject, finish_reason: string | null = null): WireEvent => ({
    payload: { ...shell, choices: [{ index: 0, delta, finish_reason }] },
  });
  yield chunk({ role: 'assistant', content: '' });
  let index = 0;
  for (const part of reply.parts) {
    for (const delta of deltas(part, index)) yield chunk(delta);
    if (isCall(part)) index += 1;
  }
  yield chunk({}, finishReason(reply));
  yield { payload: { ...shell, choices: [], usage: usageOf(reply) } };
  yield { payload: '[DONE]' };
}

function deltas(part: ReplyPart, index: number): JsonObject[] {
  if (part.kind === 'thinking') return textPieces(part).map((reasoning_content) => ({ reasoning_content }));
  if (part.kind === 'text') return textPieces(part).map((content) => ({ content }));
  const head = { tool_calls: [{ index, id: part.id, type: 'function', function: { name: part.name, arguments: '' } }] };
  return [
    head,
    ...argumentPieces(argumentsOf(part)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function whole(call: ModelCall, reply: Reply): JsonObject {
  const joined = (kind: 'text' | 'thinking'): string => reply.parts.map((part) => (part.kind === kind ? part.text : '')).join('');
  const calls = reply.parts
    .filter(isCall)
    .map((part) => ({ id: part.id, type: 'function', function: { name: part.name, arguments: argumentsOf(part) } }));
  const thinking = joined('thinking');
  const message = {
    role: 'assistant',
    content: joined('text'),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion',
    created: reply.created,
    model: call.model,
    choices: [{ index: 0, message, finish_reason: finishReason(reply) }],
    usage: usageOf(reply),
  };
}
