import { expect, it } from 'vitest';
import { closingServer } from '../../test/closing-server.ts';
import { ask, contents, readEvents } from '../../test/http-client.ts';

const TOOLS = [
  { type: 'custom', name: 'apply_patch' },
  { type: 'function', name: 'exec_command', parameters: { properties: { cmd: {} } } },
  { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'echo', parameters: {} }] },
];
const PATH = '/models/openai/v1/responses';
const message = (role: string, text: string): object => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
const body = (more: object = {}): object => ({
  model: 'm',
  stream: true,
  tools: TOOLS,
  input: [message('user', 'do it')],
  ...more,
});

it('streams each item from its announcement to its end, numbered, and repeats them all at the end', async () => {
  await using server = await closingServer({
    script: [
      {
        thinking: 'I think so.',
        text: 'An answer of some words.',
        tools: [
          { tool: 'apply_patch', raw: '*** Begin Patch\n' },
          { tool: 'echo', input: { a: 1 } },
        ],
        usage: { input: 5, output: 6, cached: 2 },
      },
    ],
  });
  const events = contents((await ask(server, PATH, { body: body() })).body);
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
  const joined = (type: string): string =>
    events
      .filter((event) => event['type'] === type)
      .map((event) => event['delta'])
      .join('');
  expect([
    joined('response.reasoning_summary_text.delta'),
    joined('response.output_text.delta'),
    joined('response.custom_tool_call_input.delta'),
    joined('response.function_call_arguments.delta'),
  ]).toEqual(['I think so.', 'An answer of some words.', '*** Begin Patch\n', '{"a":1}']);
  const output = [
    { type: 'reasoning', id: 'item_scripted_1_0', summary: [{ type: 'summary_text', text: 'I think so.' }] },
    {
      type: 'message',
      id: 'item_scripted_1_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'An answer of some words.', annotations: [] }],
    },
    {
      type: 'custom_tool_call',
      id: 'item_scripted_1_2',
      call_id: 'call_1_0',
      name: 'apply_patch',
      input: '*** Begin Patch\n',
      status: 'completed',
    },
    {
      type: 'function_call',
      id: 'item_scripted_1_3',
      call_id: 'call_1_1',
      name: 'echo',
      namespace: 'mcp',
      arguments: '{"a":1}',
      status: 'completed',
    },
  ];
  expect(events.filter((event) => event['type'] === 'response.output_item.done').map((event) => event['item'])).toEqual(output);
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: {
      status: 'completed',
      output,
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 2 },
        output_tokens: 6,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 11,
      },
    },
  });
});

it('names every event by its type', async () => {
  await using server = await closingServer({ script: [{ text: 'hi' }] });
  const events = readEvents((await ask(server, PATH, { body: body() })).body);
  expect(events.map(({ event }) => event)).toEqual(events.map(({ data }) => (data === '[DONE]' ? undefined : data['type'])));
  expect(events[0]?.event).toBe('response.created');
});

it('gives the response as one body when no stream was asked for', async () => {
  await using server = await closingServer({ script: [{ text: 'hi' }], now: () => 5_000 });
  expect(JSON.parse((await ask(server, PATH, { body: body({ stream: false }) })).body)).toEqual({
    id: 'resp_scripted_1',
    object: 'response',
    created_at: 5,
    model: 'm',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'item_scripted_1_0',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    },
  });
});

it('reads developer text as system, calls as the assistant and outputs as tools', async () => {
  await using server = await closingServer();
  const input = [
    message('developer', 'rules'),
    message('user', 'environment'),
    message('user', 'do it'),
    { type: 'function_call', name: 'exec_command' },
    { type: 'function_call_output', output: 'done' },
  ];
  await ask(server, PATH, { body: body({ input, reasoning: { effort: 'low' } }) });
  expect(server.log()[0]?.call).toEqual({
    model: 'm',
    stream: true,
    effort: 'low',
    tools: ['apply_patch', 'exec_command', 'echo'],
    roles: ['system', 'user', 'user', 'assistant', 'tool'],
    opening: 'environment\ndo it',
    last: 'done',
  });
});

it('dates the end of a usage limit', async () => {
  await using server = await closingServer({ script: [{ error: 'usage_limit' }], now: () => 1_000 });
  const answer = await ask(server, PATH, { body: body() });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    429,
    {
      error: {
        message: expect.any(String),
        type: 'usage_limit_reached',
        code: 'usage_limit_reached',
        param: null,
        plan_type: 'pro',
        resets_at: 3601,
      },
    },
  ]);
});
