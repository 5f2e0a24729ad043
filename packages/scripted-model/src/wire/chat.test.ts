import { expect, it } from 'vitest';
import { closingServer } from '../../test/closing-server.ts';
import { ask, contents, readEvents } from '../../test/http-client.ts';

const TOOLS = [{ type: 'function', function: { name: 'bash', parameters: { properties: { command: {} } } } }];
const PATH = '/models/openai/v1/chat/completions';
const body = (more: object = {}): object => ({
  model: 'm',
  stream: true,
  tools: TOOLS,
  messages: [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'do it' },
  ],
  ...more,
});

it('streams text and two tool calls by their index, then usage, then [DONE]', async () => {
  await using server = await closingServer({
    script: [
      {
        thinking: 'Hm.',
        text: 'Words of an answer.',
        tools: [
          { tool: 'bash', input: { command: 'a' } },
          { tool: 'bash', input: { command: 'b' } },
        ],
      },
    ],
  });
  const answer = await ask(server, PATH, { body: body() });
  expect(readEvents(answer.body).at(-1)).toEqual({ event: undefined, data: '[DONE]' });
  const chunks = contents(answer.body) as unknown as readonly {
    choices: {
      delta: {
        content?: string;
        reasoning_content?: string;
        tool_calls?: { index: number; id?: string; function: { arguments: string } }[];
      };
      finish_reason: string | null;
    }[];
    usage?: object;
  }[];
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  const argumentsOf = (index: number): string =>
    calls
      .filter((call) => call.index === index)
      .map((call) => call.function.arguments)
      .join('');
  expect({
    text: deltas.map((delta) => delta.content ?? '').join(''),
    thinking: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
    ids: calls.flatMap((call) => call.id ?? []),
    arguments: [argumentsOf(0), argumentsOf(1)],
    finish: chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.finish_reason ?? [])),
    usage: chunks.at(-1)?.usage,
  }).toEqual({
    text: 'Words of an answer.',
    thinking: 'Hm.',
    ids: ['call_1_0', 'call_1_1'],
    arguments: ['{"command":"a"}', '{"command":"b"}'],
    finish: ['tool_calls'],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

it('gives the completion as one body when no stream was asked for', async () => {
  await using server = await closingServer({ script: [{ text: 'hi', shell: 'ls' }], now: () => 5_000 });
  expect(JSON.parse((await ask(server, PATH, { body: body({ stream: undefined }) })).body)).toEqual({
    id: 'chatcmpl-scripted_1',
    object: 'chat.completion',
    created: 5,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'hi',
          tool_calls: [{ id: 'call_1_0', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

it('reads roles, effort and the wanted schema', async () => {
  await using server = await closingServer();
  const messages = [
    { role: 'developer', content: 'rules' },
    { role: 'user', content: [{ type: 'text', text: 'do it' }] },
    { role: 'assistant', content: null },
    { role: 'tool', content: 'done' },
  ];
  await ask(server, PATH, { body: body({ messages, reasoning_effort: 'low' }) });
  expect(server.log()[0]?.call).toEqual({
    model: 'm',
    stream: true,
    effort: 'low',
    tools: ['bash'],
    roles: ['system', 'user', 'assistant', 'tool'],
    opening: 'do it',
    last: 'done',
  });
});

it('answers a call that wants structured output by its schema', async () => {
  await using server = await closingServer({ script: [{ text: 'for the conversation' }] });
  const schema = {
    type: 'object',
    properties: { title: { type: 'string' }, kind: { enum: ['a', 'b'] }, score: { type: 'number' } },
  };
  const answer = await ask(server, PATH, {
    body: body({ stream: false, tools: [], response_format: { type: 'json_schema', json_schema: { schema } } }),
  });
  const content = (JSON.parse(answer.body) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
  expect(JSON.parse(content)).toEqual({ title: 'scripted', kind: 'a', score: 0 });
  expect(server.queue()).toEqual({ '': [{ text: 'for the conversation' }] });
});
