import { describe, expect, it } from 'vitest';
import type { SessionCommand } from '../dialogue.ts';
import { play, type Happening, type How } from '../../../test/acp-play.ts';

const initialized = (capabilities: object = {}, more: object = {}): Happening => ({
  hear: { id: 0, result: { protocolVersion: 1, agentCapabilities: capabilities, ...more } },
});
const modes = { currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'plan' }, { id: 'yolo' }] };
const opened = (more: object = { modes }): Happening => ({ hear: { id: 1, result: { sessionId: 's1', ...more } } });
const ready = [initialized(), opened()];
const prompt = (turn: number): Happening => ({ tell: { kind: 'prompt', turn, text: `words of ${turn}` } });
const update = (sessionUpdate: string, more: object, sessionId = 's1'): Happening => ({
  hear: { method: 'session/update', params: { sessionId, update: { sessionUpdate, ...more } } },
});
const says = (text: string): Happening => update('agent_message_chunk', { content: { type: 'text', text } });
const thinks = (text: string): Happening => update('agent_thought_chunk', { content: { type: 'text', text } });
const ends = (id: number, result: object = { stopReason: 'end_turn' }): Happening => ({ hear: { id, result } });
const fails = (id: number, error: object): Happening => ({ hear: { id, error } });
const tells = (command: SessionCommand): Happening => ({ tell: command });
const kinds = (script: readonly Happening[], how?: How) => play(script, how).facts.map(({ kind }) => kind);
const methods = (script: readonly Happening[], how?: How) => play(script, how).said.map(({ method }) => method);

describe('how a process begins', () => {
  it('says nothing but its greeting until that is answered', () => {
    expect(play([]).said).toMatchObject([{ id: 0, method: 'initialize', params: { protocolVersion: 1 } }]);
    expect(methods([initialized()])).toEqual(['initialize', 'session/new']);
    expect(play(ready).facts).toEqual([{ kind: 'conversation', id: 's1' }, { kind: 'mode', mode: 'default' }, { kind: 'ready' }]);
  });

  it('goes on with a conversation as the agent can: resume before load', () => {
    const start = { conversation: 's0' };
    const can = { loadSession: true, sessionCapabilities: { resume: {} } };
    expect(play([initialized(can)], { start }).said[1]).toMatchObject({ method: 'session/resume', params: { sessionId: 's0' } });
    expect(methods([initialized({ loadSession: true })], { start })).toEqual(['initialize', 'session/load']);
    const cannot = play([initialized()], { start });
    expect(cannot.said[1]?.method).toBe('session/new');
    expect(cannot.events).toMatchObject([{ kind: 'notice', level: 'warning' }]);
  });

  it('begins a new conversation, and says so, where the agent does not have the old one', () => {
    const start = { conversation: 's0' };
    const script = [
      initialized({ loadSession: true }),
      fails(1, { code: -32_602, message: 'not found' }),
      ends(2, { sessionId: 's2' }),
    ];
    const { said, facts, events } = play(script, { start });
    expect(said.map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/new']);
    expect(facts).toEqual([{ kind: 'conversation', id: 's2' }, { kind: 'ready' }]);
    expect(events).toMatchObject([{ kind: 'notice', text: expect.stringContaining('begins a new one') }]);
  });

  it('takes what is told again of a conversation for nothing new, before and after it is open', () => {
    const again = [says('old words'), update('tool_call', { toolCallId: 'c', title: 'old', status: 'completed' })];
    const script = [initialized({ loadSession: true }), ...again, ends(1, { modes }), ...again, prompt(3), says('new'), ends(2)];
    const { events } = play(script, { start: { conversation: 's1' } });
    expect(events).toEqual([
      { kind: 'turn.started', conversation: 's1', model: null },
      { kind: 'text', row: 'turn-3-1', text: 'new' },
    ]);
  });

  it('that tells an old conversation late is asked one thing more, and is ready when it has answered that', () => {
    const how = { preset: { tellsLate: true }, start: { conversation: 's1' } } as const;
    const taken = [initialized({ loadSession: true }), ends(1, { modes }), says('old words')];
    expect(methods(taken, how)).toEqual(['initialize', 'session/load', 'session/set_mode']);
    expect([kinds(taken, how).includes('ready'), kinds([...taken, ends(2, {})], how).includes('ready')]).toEqual([false, true]);
  });

  it('logs in where that needs nobody, and is of no use where it needs somebody', () => {
    const offers = initialized({}, { authMethods: [{ id: 'cached' }, { id: 'browser' }] });
    const refused = { code: -32_000, message: 'Authentication required' };
    const how = { preset: { logins: ['key', 'cached'] } };
    expect(methods([offers, fails(1, refused), ends(2, {})], how)).toEqual([
      'initialize',
      'session/new',
      'authenticate',
      'session/new',
    ]);
    expect(kinds([offers, fails(1, refused), fails(2, refused)], how)).toEqual(['unfit']);
    expect(play([offers, fails(1, refused)]).facts).toEqual([
      { kind: 'unfit', reason: 'Agent wants somebody to log in: Authentication required' },
    ]);
  });

  it.each([
    ['another version', { hear: { id: 0, result: { protocolVersion: 7 } } }],
    ['another protocol', { hear: { id: 0, result: 'hello' } }],
    ['a refusal', fails(0, { code: -32_603, message: 'no' })],
  ])('is of no use with %s', (_, happening) => expect(kinds([happening])).toEqual(['unfit']));

  it('is put into the mode that is wanted, and takes prompts after that', () => {
    const how = { start: { mode: 'plan' as const } };
    expect(play(ready, how).said[2]).toMatchObject({ method: 'session/set_mode', params: { sessionId: 's1', modeId: 'plan' } });
    expect(kinds(ready, how)).not.toContain('ready');
    expect(kinds([...ready, ends(2, {})], how)).toContain('ready');
    const refused = play([...ready, fails(2, { code: -32_602, message: 'no such mode' })], how);
    expect(refused.facts.at(-1)).toEqual({ kind: 'ready' });
    expect(refused.events).toMatchObject([{ kind: 'notice', text: 'Agent: no such mode' }]);
  });

  it('chooses mode, model and effort by options where the agent has them as options, and says what it does not have', () => {
    const option = (id: string, category: string, values: readonly string[]) => ({
      ...{ id, category, type: 'select', currentValue: values[0], options: values.map((value) => ({ value, name: value })) },
    });
    const configOptions = [
      option('m', 'mode', ['auto', 'default']),
      option('model', 'model', ['a', 'b']),
      option('effort', 'thought_level', ['low', 'high']),
    ];
    const how = { preset: { choosesInSession: true }, start: { model: 'b', effort: 'extreme' } };
    const { said, events, facts } = play([initialized(), opened({ configOptions })], how);
    expect(said.slice(2).map(({ params }) => params)).toEqual([
      { sessionId: 's1', configId: 'm', value: 'default' },
      { sessionId: 's1', configId: 'model', value: 'b' },
    ]);
    expect(events).toMatchObject([{ kind: 'notice', text: 'Agent does not have the effort extreme; it uses its own.' }]);
    expect(facts).toContainEqual({
      kind: 'catalogue',
      catalogue: { models: ['a', 'b'].map((id) => ({ id, name: id, efforts: ['low', 'high'] })) },
    });
  });

  it('says when the agent has no mode that asks', () => {
    const { events } = play([initialized(), opened({ modes: { currentModeId: 'x', availableModes: [{ id: 'x' }] } })]);
    expect(events).toMatchObject([{ kind: 'notice', level: 'warning', text: expect.stringContaining('It stays in x.') }]);
  });
});

describe('a turn', () => {
  const turn = [
    ...ready,
    prompt(1),
    update('available_commands_update', { availableCommands: [{ name: 'init', description: 'Begin' }] }),
    thinks('Let me '),
    thinks('see. '),
    says('I '),
    says('look.'),
    update('tool_call', { toolCallId: 'c1', title: 'read', kind: 'read', status: 'pending', rawInput: {} }),
    update('tool_call_update', { toolCallId: 'c1', status: 'in_progress', rawInput: { path: '/place/a' }, title: 'Read a' }),
    update('tool_call_update', { toolCallId: 'c1', status: 'in_progress', rawInput: { path: '/place/a' }, title: 'Read a' }),
    update('tool_call_update', {
      toolCallId: 'c1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'A' } }],
    }),
    update('plan', {
      entries: [
        { content: 'one', status: 'completed' },
        { content: 'two', status: 'pending' },
      ],
    }),
    says('Done.'),
    update('usage_update', { used: 10, size: 100 }),
    ends(2, { stopReason: 'end_turn', usage: { inputTokens: 7, outputTokens: 3, cachedReadTokens: 1 } }),
  ];

  it('has a row for each stretch of words, told when it is whole', () => {
    const { events, facts } = play(turn);
    expect(events).toEqual([
      { kind: 'turn.started', conversation: 's1', model: null },
      { kind: 'thinking', row: 'turn-1-1', text: 'Let me see. ' },
      { kind: 'text', row: 'turn-1-2', text: 'I look.' },
      { kind: 'tool.call', row: 'c1', tool: 'read', input: '{"path":"/place/a"}' },
      { kind: 'tool.result', row: 'c1', tool: 'read', output: 'A', outputBytes: 1, failed: false },
      {
        kind: 'plan',
        row: 'turn-1-plan',
        entries: [
          { text: 'one', status: 'done' },
          { text: 'two', status: 'pending' },
        ],
      },
      { kind: 'context', usedTokens: 10, windowTokens: 100 },
      { kind: 'text', row: 'turn-1-3', text: 'Done.' },
      { kind: 'usage', inputTokens: 7, outputTokens: 3, cachedTokens: 1 },
    ]);
    expect(facts.slice(3)).toEqual([
      { kind: 'catalogue', catalogue: { commands: [{ name: 'init', description: 'Begin' }] } },
      { kind: 'accepted', turn: 1 },
      { kind: 'ended', turn: 1, reported: { kind: 'success' } },
    ]);
  });

  it('is seen while it is written, under the row that it will have', () => {
    const { steps } = play([...ready, prompt(1), thinks('h'), thinks('m'), says('I '), says('look.'), ends(2)]);
    expect(steps.flatMap(({ live }) => live)).toEqual([
      { kind: 'thinking', row: 'turn-1-1', text: 'h' },
      { kind: 'thinking', row: 'turn-1-1', append: 'm' },
      { kind: 'text', row: 'turn-1-2', text: 'I ' },
      { kind: 'text', row: 'turn-1-2', append: 'look.' },
    ]);
  });

  it.each([{ cut: true }, { restart: true }])('is the same with %o', (how) =>
    expect(play(turn, how).steps).toEqual(play(turn).steps),
  );

  it('says the prompt as the turn that it is', () => {
    const frames = play([...ready, prompt(4)]).steps.flatMap((step) => step.frames);
    expect(frames.at(-1)).toMatchObject({ prompt: 4 });
    expect(JSON.parse(frames.at(-1)!.text)).toMatchObject({ params: { prompt: [{ type: 'text', text: 'words of 4' }] } });
  });

  it('cuts words that are too long, with their size', () => {
    const { events } = play([...ready, prompt(1), says('x'.repeat(100_000)), says('y'), ends(2)]);
    expect(events[1]).toEqual({
      ...{ kind: 'text', row: 'turn-1-1' },
      text: `${'x'.repeat(65_536)}\n[cut: 65536 of 100001 bytes shown]`,
    });
  });

  it('counts the tokens of a turn wherever they are told', () => {
    const usageOf = (end: object, how: How, ...more: readonly Happening[]) =>
      play(
        [
          ...ready,
          prompt(1),
          ...more,
          ends(2, { stopReason: 'end_turn', ...end }),
          prompt(2),
          ends(3, { stopReason: 'end_turn', ...end }),
        ],
        how,
      ).events.flatMap((event) => (event.kind === 'usage' ? [[event.inputTokens, event.outputTokens]] : []));
    const usage = { inputTokens: 5, outputTokens: 2 };
    expect(usageOf({ usage }, {})).toEqual([
      [5, 2],
      [5, 2],
    ]);
    expect(usageOf({ usage }, { preset: { counts: 'conversation' } })).toEqual([[5, 2]]);
    expect(usageOf({ _meta: { quota: { token_count: { input_tokens: 4, output_tokens: 1 } } } }, {})).toEqual([
      [4, 1],
      [4, 1],
    ]);
    const piece = update('agent_message_chunk', { content: { type: 'text', text: '' }, _meta: { usage } });
    expect(usageOf({}, {}, piece, piece)).toEqual([[10, 4]]);
  });

  it('is told to stop, and what it asks then has no answer', () => {
    const question = { toolCall: { toolCallId: 'c', title: 'rm' }, options: [] };
    const asks = { hear: { id: 'q', method: 'session/request_permission', params: { sessionId: 's1', ...question } } };
    const { said, facts } = play([...ready, prompt(1), asks, tells({ kind: 'interrupt' }), ends(2, { stopReason: 'cancelled' })]);
    expect(said.slice(3)).toEqual([
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } },
      { jsonrpc: '2.0', id: 'q', result: { outcome: { outcome: 'cancelled' } } },
    ]);
    expect(facts.slice(-2)).toEqual([
      { kind: 'withdrawn', key: '"q"' },
      { kind: 'ended', turn: 1, reported: { kind: 'stopped' } },
    ]);
    expect(methods([...ready, tells({ kind: 'interrupt' })])).toHaveLength(2);
  });

  it('is told its plan mode and back; what the other modes allow is not its to know', () => {
    const script = [...ready, tells({ kind: 'mode', mode: 'all' }), tells({ kind: 'mode', mode: 'plan' }), ends(2, {})];
    expect(play(script).said.slice(2)).toMatchObject([{ method: 'session/set_mode', params: { modeId: 'plan' } }]);
    const back = [...script, update('current_mode_update', { currentModeId: 'plan' }), tells({ kind: 'mode', mode: 'edits' })];
    expect(play(back).said.at(-1)).toMatchObject({ params: { modeId: 'default' } });
  });

  it('cannot be given more words', () => {
    expect(() => play([...ready, prompt(1), tells({ kind: 'steer', key: 'k', text: 't' })])).toThrow(/cannot take words/);
  });
});

describe('what nobody knows', () => {
  it.each([
    ['a notice', { method: 'vendor/news', params: {} }],
    ['an update', { method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'dance' } } }],
    [
      'an update of another conversation',
      { method: 'session/update', params: { sessionId: 's9', update: { sessionUpdate: 'plan' } } },
    ],
    ['an update without a shape', { method: 'session/update', params: 3 }],
    [
      'a tool call without an id',
      { method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'tool_call' } } },
    ],
    ['an answer to nothing', { id: 77, result: {} }],
    ['an answer twice', { id: 1, result: {} }],
    ['nothing at all', {}],
    ['a request', { id: null, method: 'vendor/do', params: [] }],
  ])('%s is counted and said once', (_, frame) => {
    const { events } = play([...ready, { hear: frame }, { hear: frame }]);
    expect(events).toMatchObject([{ kind: 'notice', level: 'info', text: expect.stringContaining('does not know') }]);
  });

  it('is refused what it asks for and this client does not offer, without a word in the log', () => {
    const asked = ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'vendor/quiet'];
    const { said, events } = play([...ready, ...asked.map((method, id) => ({ hear: { id, method, params: {} } }))]);
    expect(said.slice(2)).toMatchObject(asked.map((_, id) => ({ id, error: { code: -32_601 } })));
    expect(events).toEqual([]);
    expect(play([...ready, { hear: { method: 'vendor/quiet' } }]).events).toEqual([]);
  });

  it('is a line of its log where it is no JSON', () => {
    expect(play([...ready, { hear: 'Loaded cached credentials.' }]).events).toMatchObject([{ kind: 'notice', level: 'info' }]);
  });
});
