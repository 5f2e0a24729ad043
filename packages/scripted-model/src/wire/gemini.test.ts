import { expect, it } from 'vitest';
import { closingServer } from '../../test/closing-server.ts';
import { ask, contents } from '../../test/http-client.ts';

const TOOLS = [
  { functionDeclarations: [{ name: 'write_file', parametersJsonSchema: { properties: { file_path: {}, content: {} } } }] },
];
const body = (more: object = {}): object => ({ tools: TOOLS, contents: [{ role: 'user', parts: [{ text: 'do it' }] }], ...more });
const STREAM = '/models/google/v1beta/models/gem-1:streamGenerateContent?alt=sse';

type Chunk = {
  candidates: { content: { parts: { text?: string; thought?: boolean; functionCall?: object }[] }; finishReason?: string }[];
  usageMetadata: object;
};

it('streams parts that add up, and says STOP once at the end', async () => {
  await using server = await closingServer({
    script: [{ thinking: 'Hm.', text: 'Words of an answer.', write: { path: 'a', content: 'b' } }],
  });
  const chunks = contents((await ask(server, STREAM, { body: body() })).body) as unknown as Chunk[];
  const parts = chunks.flatMap((chunk) => chunk.candidates.flatMap((candidate) => candidate.content.parts));
  expect({
    thinking: parts.filter((part) => part.thought).map((part) => part.text),
    text: parts
      .filter((part) => !part.thought)
      .map((part) => part.text ?? '')
      .join(''),
    calls: parts.flatMap((part) => part.functionCall ?? []),
    finish: chunks.flatMap((chunk) => chunk.candidates.flatMap((candidate) => candidate.finishReason ?? [])),
    usage: chunks.at(-1)?.usageMetadata,
  }).toEqual({
    thinking: ['Hm.'],
    text: 'Words of an answer.',
    calls: [{ id: 'call_1_0', name: 'write_file', args: { file_path: 'a', content: 'b' } }],
    finish: ['STOP'],
    usage: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 0 },
  });
});

it('gives one body for generateContent, and takes the model from the path', async () => {
  await using server = await closingServer({ script: [{ text: 'hi' }] });
  const answer = await ask(server, '/v1beta/models/gem-1:generateContent', { body: body() });
  expect(JSON.parse(answer.body)).toEqual({
    responseId: 'scripted_1',
    modelVersion: 'gem-1',
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'hi' }] } }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 0 },
  });
});

it('reads a function response as a tool turn', async () => {
  await using server = await closingServer();
  const turns = [
    { role: 'user', parts: [{ text: 'do it' }] },
    { role: 'model', parts: [{ functionCall: { name: 'write_file' } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'write_file', response: { output: 'ok' } } }] },
  ];
  await ask(server, STREAM, { body: body({ contents: turns }) });
  expect(server.log()[0]?.call).toEqual({
    model: 'gem-1',
    stream: true,
    effort: undefined,
    tools: ['write_file'],
    roles: ['user', 'assistant', 'tool'],
    opening: 'do it',
    last: '{"output":"ok"}',
  });
});

it('refuses in the words of Google', async () => {
  await using server = await closingServer({ script: [{ error: 'overloaded' }] });
  const answer = await ask(server, STREAM, { body: body() });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    529,
    { error: { code: 529, message: 'Overloaded', status: 'UNAVAILABLE' } },
  ]);
});

it('counts tokens', async () => {
  await using server = await closingServer();
  expect(JSON.parse((await ask(server, '/v1beta/models/gem-1:countTokens', { body: body() })).body)).toEqual({
    totalTokens: 100,
  });
});
