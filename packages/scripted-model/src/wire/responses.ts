/** OpenAI Responses: `POST …/responses`. https://platform.openai.com/docs/api-reference/responses */
import { asList, asObject, asString } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { ModelCall, Reply, ReplyPart, ToolOffer, Turn } from '../model-call.ts';
import { refuseAsOpenai } from './openai-refusal.ts';
import { argumentPieces, textPieces } from './wire.ts';
import type { Wire, WireEvent } from './wire.ts';

export const responses: Wire = {
  name: 'responses',
  accepts: (path) => path.endsWith('/responses'),
  read,
  stream,
  whole,
  refuse: refuseAsOpenai,
  unknown: () => ({ type: 'x_surprise', surprise: true }),
  refusalHeaders: () => ({}),
};

function read(body: JsonObject): ModelCall {
  const input = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : asList(body['input']);
  return {
    model: asString(body['model']),
    stream: body['stream'] === true,
    system: asString(body['instructions']),
    effort: asString(asObject(body['reasoning'])['effort']) || undefined,
    tools: asList(body['tools']).map(asObject).flatMap(toolsOf),
    turns: input.map(asObject).map(turnOf),
    schema: asObject(asObject(body['text'])['format'])['schema'],
  };
}

function toolsOf(tool: JsonObject): ToolOffer[] {
  if (tool['type'] !== 'namespace') return [toolOf(tool)];
  return asList(tool['tools']).map((inner) => ({ ...toolOf(asObject(inner)), namespace: asString(tool['name']) }));
}

function toolOf(tool: JsonObject): ToolOffer {
  return {
    name: asString(tool['name'], asString(tool['type'])),
    freeform: tool['type'] === 'custom',
    properties: asObject(asObject(tool['parameters'])['properties']),
  };
}

/** Every item that is neither a message nor a tool's result is something the model said or did. */
function turnOf(item: JsonObject): Turn {
  const type = asString(item['type'], 'message');
  if (type.endsWith('_output')) return { role: 'tool', text: partsText(item['output']) };
  if (type !== 'message') return { role: 'assistant', text: '' };
  const text = partsText(item['content']);
  if (item['role'] === 'user' || item['role'] === 'assistant') return { role: item['role'], text };
  return { role: 'system', text };
}

function partsText(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => asString(asObject(part)['text']))
    .join('\n');
}

function shell(call: ModelCall, reply: Reply): JsonObject {
  return { id: `resp_${reply.id}`, object: 'response', created_at: reply.created, model: call.model };
}

function usageOf({ usage }: Reply): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

function whole(call: ModelCall, reply: Reply): JsonObject {
  return {
    ...shell(call, reply),
    status: 'completed',
    output: reply.parts.map((part, index) => itemOf(part, { call, id: itemId(reply, index) })),
    usage: usageOf(reply),
  };
}

function itemId(reply: Reply, index: number): string {
  return `item_${reply.id}_${index}`;
}

function itemOf(part: ReplyPart, { call, id }: { readonly call: ModelCall; readonly id: string }): JsonObject {
  switch (part.kind) {
    case 'thinking':
      return { type: 'reasoning', id, summary: [{ type: 'summary_text', text: part.text }] };
    case 'text':
      return {
        type: 'message',
        id,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: part.text, annotations: [] }],
      };
    case 'freeform':
      return { type: 'custom_tool_call', id, call_id: part.id, name: part.name, input: part.text, status: 'completed' };
    case 'tool': {
      const namespace = call.tools.find((tool) => tool.name === part.name)?.namespace;
      return {
        type: 'function_call',
        id,
        call_id: part.id,
        name: part.name,
        ...(namespace !== undefined && { namespace }),
        arguments: JSON.stringify(part.input),
        status: 'completed',
      };
    }
  }
}

function* stream(call: ModelCall, reply: Reply): Iterable<WireEvent> {
  let sequence = 0;
  for (const [type, members] of unnumbered(call, reply)) {
    yield { event: type, payload: { type, sequence_number: sequence, ...members } };
    sequence += 1;
  }
}

type Unnumbered = readonly [type: string, members: JsonObject];

function* unnumbered(call: ModelCall, reply: Reply): Iterable<Unnumbered> {
  const started = { ...shell(call, reply), status: 'in_progress', output: [] };
  yield ['response.created', { response: started }];
  yield ['response.in_progress', { response: started }];
  for (const [index, part] of reply.parts.entries()) {
    const id = itemId(reply, index);
    const item = itemOf(part, { call, id });
    const place = { item_id: id, output_index: index };
    yield ['response.output_item.added', { output_index: index, item: beginning(item) }];
    yield* itemEvents(part, place);
    yield ['response.output_item.done', { output_index: index, item }];
  }
  yield ['response.completed', { response: whole(call, reply) }];
}

/** An item as it is announced, before its content has come. */
function beginning(item: JsonObject): JsonObject {
  if (item['type'] === 'reasoning') return { ...item, summary: [] };
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item['type'] === 'custom_tool_call') return { ...item, status: 'in_progress', input: '' };
  return { ...item, status: 'in_progress', arguments: '' };
}

function* itemEvents(part: ReplyPart, place: JsonObject): Iterable<Unnumbered> {
  switch (part.kind) {
    case 'thinking': {
      const at = { ...place, summary_index: 0 };
      yield ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }];
      for (const delta of textPieces(part)) yield ['response.reasoning_summary_text.delta', { ...at, delta }];
      yield ['response.reasoning_summary_text.done', { ...at, text: part.text }];
      yield ['response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: part.text } }];
      return;
    }
    case 'text': {
      const at = { ...place, content_index: 0 };
      yield ['response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } }];
      for (const delta of textPieces(part)) yield ['response.output_text.delta', { ...at, delta }];
      yield ['response.output_text.done', { ...at, text: part.text }];
      yield ['response.content_part.done', { ...at, part: { type: 'output_text', text: part.text, annotations: [] } }];
      return;
    }
    case 'freeform':
      for (const delta of argumentPieces(part.text)) yield ['response.custom_tool_call_input.delta', { ...place, delta }];
      yield ['response.custom_tool_call_input.done', { ...place, input: part.text }];
      return;
    case 'tool': {
      const text = JSON.stringify(part.input);
      for (const delta of argumentPieces(text)) yield ['response.function_call_arguments.delta', { ...place, delta }];
      yield ['response.function_call_arguments.done', { ...place, arguments: text }];
    }
  }
}
