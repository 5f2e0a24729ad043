import { expect, it } from 'vitest';
import { closingServer } from '../../test/closing-server.ts';
import { ask, contents, readEvents } from '../../test/http-client.ts';

const TOOLS = [{ name: 'Write', input_schema: { type: 'object', properties: { file_path: {}, content: {} } } }];
const PATH = '/models/anthropic/v1/messages?beta=true';
const body = (more: object = {}): object => ({
  model: 'm',
  stream: true,
  tools: TOOLS,
  messages: [{ role: 'user', content: 'do it' }],
  ...more,
});

it('streams thinking, text and a tool call as blocks that add up', async () => {
  await using server = await closingServer({
    script: [
      {
        thinking: 'I think so.',
        text: 'Some words of an answer.',
        tool: 'Write',
        input: { file_path: 'a', content: 'b'.repeat(100) },
        usage: { input: 7, output: 8, cached: 9 },
      },
    ],
  });
  const answer = await ask(server, PATH, { body: body() });
  const events = contents(answer.body);
  expect(answer.headers['content-type']).toBe('text/event-stream');
  expect(readEvents(answer.body).every(({ event, data }) => data !== '[DONE]' && event === data['type'])).toBe(true);
  const joined = (index: number, member: string): string =>
    events
      .filter((event) => event['type'] === 'content_block_delta' && event['index'] === index)
      .map((event) => (event['delta'] as Record<string, string>)[member] ?? '')
      .join('');
  expect(events.filter((event) => event['type'] === 'content_block_start').map((event) => event['content_block'])).toEqual([
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'text', text: '' },
    { type: 'tool_use', id: 'toolu_call_1_0', name: 'Write', input: {} },
  ]);
  expect([joined(0, 'thinking'), joined(1, 'text'), JSON.parse(joined(2, 'partial_json'))]).toEqual([
    'I think so.',
    'Some words of an answer.',
    { file_path: 'a', content: 'b'.repeat(100) },
  ]);
  expect(events.slice(-2)).toEqual([
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 7, output_tokens: 8, cache_read_input_tokens: 9, cache_creation_input_tokens: 0 },
    },
    { type: 'message_stop' },
  ]);
});

it('gives the same reply as one body when no stream was asked for', async () => {
  await using server = await closingServer({ script: [{ text: 'Hello.', tool: 'Write', input: { file_path: 'a' } }] });
  const answer = await ask(server, PATH, { body: body({ stream: false }) });
  expect(JSON.parse(answer.body)).toEqual({
    id: 'msg_scripted_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: 'Hello.' },
      { type: 'tool_use', id: 'toolu_call_1_0', name: 'Write', input: { file_path: 'a' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  });
});

it('tells a tool result, a user turn and a system turn apart in one conversation', async () => {
  await using server = await closingServer({ script: [{ text: 'ok' }] });
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'first' },
        { type: 'text', text: 'second' },
      ],
    },
    { role: 'system', content: 'facts' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Write', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'written' }] },
        { type: 'text', text: 'go on' },
      ],
    },
  ];
  await ask(server, PATH, { body: body({ messages, output_config: { effort: 'high' } }) });
  expect(server.log().map((entry) => entry.call)).toEqual([
    {
      model: 'm',
      stream: true,
      effort: 'high',
      tools: ['Write'],
      roles: ['user', 'system', 'assistant', 'tool', 'user'],
      opening: 'first\nsecond',
      last: 'go on',
    },
  ]);
});

it.each([
  ['rate_limit', 429, { type: 'rate_limit_error' }, { 'retry-after': '1' }],
  [
    'usage_limit',
    429,
    { type: 'rate_limit_error' },
    { 'anthropic-ratelimit-unified-status': 'rejected', 'anthropic-ratelimit-unified-reset': '3601' },
  ],
  ['overloaded', 529, { type: 'overloaded_error' }, {}],
  ['auth', 401, { type: 'authentication_error' }, {}],
])('says %s as Anthropic does', async (error, status, type, headers) => {
  await using server = await closingServer({ script: [{ error }], now: () => 1_000 });
  const answer = await ask(server, PATH, { body: body() });
  expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
    status,
    body: { type: 'error', error: { ...type, message: expect.any(String) }, request_id: `req_${error}` },
  });
  expect(answer.headers).toMatchObject(headers);
});

it('counts tokens and lists models without using up the script', async () => {
  await using server = await closingServer({ script: [{ text: 'kept' }] });
  expect(JSON.parse((await ask(server, '/x/v1/messages/count_tokens', { body: body() })).body)).toEqual({ input_tokens: 100 });
  expect(JSON.parse((await ask(server, '/x/v1/models', { method: 'GET' })).body)).toMatchObject({
    data: [{ id: 'scripted-1' }, { id: 'scripted-2' }],
  });
  expect(server.queue()).toEqual({ '': [{ text: 'kept' }] });
});
