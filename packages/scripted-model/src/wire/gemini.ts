/** Google Gemini: `POST …/models/M:generateContent` and `:streamGenerateContent`. https://ai.google.dev/api/generate-content */
import { asList, asObject, asString } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { ModelCall, Reply, ReplyPart, ToolOffer, Turn } from '../model-call.ts';
import type { Refusal } from '../refusal.ts';
import { textPieces } from './wire.ts';
import type { Wire, WireEvent } from './wire.ts';

const CALL = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const SIGNATURE = 'c2NyaXB0ZWQ=';

export const gemini: Wire = {
  name: 'gemini',
  accepts: (path) => CALL.test(path),
  read,
  stream,
  whole,
  refuse,
  unknown: () => ({ candidates: [], surprise: true }),
  refusalHeaders: () => ({}),
};

function read(body: JsonObject, path: string): ModelCall {
  const [, model = '', method = ''] = CALL.exec(path) ?? [];
  const config = asObject(body['generationConfig']);
  const thinking = config['thinkingConfig'];
  return {
    model,
    stream: method === 'streamGenerateContent',
    system: partsText(asObject(body['systemInstruction'])['parts']),
    effort: thinking === undefined ? undefined : JSON.stringify(thinking),
    tools: asList(body['tools']).flatMap((group) => asList(asObject(group)['functionDeclarations']).map(asObject).map(toolOf)),
    turns: asList(body['contents']).map(asObject).flatMap(turnsOf),
    schema: config['responseJsonSchema'] ?? config['responseSchema'],
  };
}

function toolOf(tool: JsonObject): ToolOffer {
  return {
    name: asString(tool['name']),
    freeform: false,
    properties: asObject(asObject(tool['parameters'] ?? tool['parametersJsonSchema'])['properties']),
  };
}

function turnsOf(content: JsonObject): Turn[] {
  const parts = asList(content['parts']).map(asObject);
  const results = parts
    .filter((part) => part['functionResponse'] !== undefined)
    .map((part): Turn => ({ role: 'tool', text: JSON.stringify(asObject(part['functionResponse'])['response'] ?? {}) }));
  const others = parts.filter((part) => part['functionResponse'] === undefined);
  if (others.length === 0) return results;
  return [...results, { role: content['role'] === 'model' ? 'assistant' : 'user', text: partsText(others) }];
}

function partsText(parts: unknown): string {
  return asList(parts)
    .map((part) => asString(asObject(part)['text']))
    .filter((text) => text !== '')
    .join('\n');
}

function candidate(
  call: ModelCall,
  reply: Reply,
  given: { readonly parts: readonly JsonObject[]; readonly finishReason?: string },
): JsonObject {
  const { input, output, cached } = reply.usage;
  const content = { role: 'model', parts: given.parts };
  const finish = given.finishReason === undefined ? {} : { finishReason: given.finishReason };
  return {
    responseId: reply.id,
    modelVersion: call.model,
    candidates: [{ index: 0, content, ...finish }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      cachedContentTokenCount: cached,
    },
  };
}

function* stream(call: ModelCall, reply: Reply): Iterable<WireEvent> {
  for (const part of reply.parts) {
    for (const piece of part.kind === 'text' ? textPieces(part) : [undefined]) {
      yield { payload: candidate(call, reply, { parts: [piece === undefined ? partOf(part) : { text: piece }] }) };
    }
  }
  yield { payload: candidate(call, reply, { parts: [{ text: '' }], finishReason: 'STOP' }) };
}

function partOf(part: ReplyPart): JsonObject {
  if (part.kind === 'thinking') return { text: part.text, thought: true };
  if (part.kind === 'text') return { text: part.text };
  const args = part.kind === 'tool' ? part.input : { input: part.text };
  return { functionCall: { id: part.id, name: part.name, args }, thoughtSignature: SIGNATURE };
}

function whole(call: ModelCall, reply: Reply): JsonObject {
  return candidate(call, reply, { parts: reply.parts.map(partOf), finishReason: 'STOP' });
}

/** A plan that is used up is a quota by the day, and says how long it takes; one by the minute is a rate. */
function refuse(refusal: Refusal): JsonObject {
  const { status, message, googleStatus, resetsIn } = refusal;
  if (resetsIn === undefined) return { error: { code: status, message, status: googleStatus } };
  const type = 'type.googleapis.com/google.rpc';
  const quotaId = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
  const details = [
    { '@type': `${type}.QuotaFailure`, violations: [{ quotaMetric: 'generate_content_requests', quotaId }] },
    { '@type': `${type}.RetryInfo`, retryDelay: `${resetsIn}s` },
  ];
  return { error: { code: status, message, status: googleStatus, details } };
}
