import { harnessTurnSpec } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { nodeSchema } from '../../config/node-schema.ts';
import { builtinHarnesses } from '../registry.ts';
import type { TurnContext } from '../harness.ts';
import { withDeclared } from './declared.ts';
import { turnHarness } from './index.ts';

const declare = (harnesses: object) => withDeclared(builtinHarnesses, nodeSchema.parse({ harnesses }).harnesses).at(-1)!;
const mine = declare({ mine: { command: ['/opt/x', '--turn'], model: 'anthropic/some-model', env: { A: 'b' } } });
const context: TurnContext = {
  ...{ program: null, prompt: 'do it', conversation: null, model: null, effort: null, workdir: '/work', home: '/home' },
  ...{ scratchpad: '/tmp-of-it', brokerEndpoint: 'http://127.0.0.1:7777', tokenFile: '/run/token', systemPrompt: null },
  ...{ command: null, asRoot: false, name: 'att_1', memory: null },
};
const encode = (...lines: readonly unknown[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
const message = (role: string, ...parts: readonly unknown[]) => ({ type: 'message', message: { role, parts } });
const text = (value: string) => ({ type: 'text', text: value });
const begin = () => mine.translator({ offset: 0, state: mine.launch(context).begins ?? {} });
const end = { exitCode: 0, signal: null, stderrTail: '' };

describe('what a turn program is given', () => {
  it('stands in a file alone, with the run token as its credential', () => {
    const launch = mine.launch({ ...context, prompt: 'SECRET-PROMPT' });
    expect(JSON.stringify([launch.command, launch.args, launch.env, launch.homeFiles])).not.toContain('SECRET-PROMPT');
    expect([launch.input, launch.file?.variable]).toEqual([null, 'ORRERY_HARNESS_TURN']);
    expect(harnessTurnSpec.parse(JSON.parse(launch.file?.content('the-run-token') ?? ''))).toEqual({
      ...{
        harness: 'mine',
        sessionId: 'att_1',
        prompt: 'SECRET-PROMPT',
        systemPrompt: '',
        model: 'some-model',
        workspaceDir: '/work',
      },
      ...{
        sessionDir: '/home/.orrery-turns/att_1',
        resume: false,
        env: { A: 'b' },
        tools: { command: [], env: {} },
        browser: null,
      },
      ...{ scratchpad: '/tmp-of-it', memory: null, missionScratchpad: null },
      credentials: [
        {
          provider: 'anthropic',
          authType: 'api_key',
          payload: 'the-run-token',
          baseUrl: 'http://127.0.0.1:7777/models/anthropic',
        },
      ],
    });
  });

  it('names the conversation that it goes on with, and no credential where it calls no model', () => {
    const other = declare({ other: { command: ['/opt/x'], callsModel: false } });
    const spec = JSON.parse(other.launch({ ...context, conversation: 'att_0' }).file?.content('token') ?? '');
    expect(spec).toMatchObject({
      sessionId: 'att_0',
      resume: true,
      sessionDir: '/home/.orrery-turns/att_0',
      credentials: [],
      model: null,
    });
    expect(JSON.stringify(spec)).not.toContain('token');
    expect(other.conversations?.holds('att_0/turns', 'att_0')).toBe(true);
    expect(other.conversations?.holds('att_01/turns', 'att_0')).toBe(false);
  });
});

describe('what a turn program says', () => {
  const lines = [
    'a line of its log',
    message('ROLE_AGENT', { type: 'thinking', text: 'hm' }, { type: 'toolCall', id: 'c1', name: 'ls', input: { path: '.' } }),
    message('ROLE_USER', { type: 'toolResult', callId: 'c1', name: 'ls', text: 'x', isError: true }, text('do it')),
    message('ROLE_AGENT', { text: 'the answer' }),
    {
      type: 'usage',
      models: [
        { provider: 'a', model: 'b', inputTokens: 1, outputTokens: 2 },
        { provider: 'a', model: 'c', outputTokens: 3 },
      ],
    },
    { type: 'result', text: 'the answer' },
  ];
  const expected = [
    { kind: 'notice', level: 'info', text: 'mine: a line of its log' },
    { kind: 'thinking', row: 'message-1', text: 'hm' },
    { kind: 'tool.call', row: 'c1', tool: 'ls', input: '{"path":"."}' },
    { kind: 'tool.result', row: 'c1', tool: 'ls', output: 'x', outputBytes: 1, failed: true },
    { kind: 'text', row: 'message-2', text: 'the answer' },
    { kind: 'usage', inputTokens: 1, outputTokens: 5, cachedTokens: 0 },
  ];

  it('becomes rows, whole, byte by byte, and restarted at each line; a result that was said is not said twice', () => {
    const bytes = encode(...lines);
    const whole = begin().push(bytes);
    expect([whole.events, whole.conversation, whole.accepted]).toEqual([expected, 'att_1', true]);
    const slow = begin();
    expect([...bytes].flatMap((byte) => slow.push(new Uint8Array([byte])).events)).toEqual(expected);
    let at: { offset: number; state: Record<string, unknown> } = { offset: 0, state: { ...mine.launch(context).begins } };
    const events = lines.flatMap((line) => {
      const taken = mine.translator(at).push(encode(line));
      at = JSON.parse(JSON.stringify({ offset: taken.offset, state: taken.state }));
      return taken.events;
    });
    expect(events).toEqual(expected);
  });

  it.each([
    [[{ type: 'result', text: '' }], { outcome: 'success' }, 'att_1'],
    [[{ type: 'error', message: 'no' }], { outcome: 'error', failure: 'program', message: 'no' }, null],
    [
      [
        { type: 'result', text: 'x' },
        { type: 'error', message: 'no' },
      ],
      { outcome: 'success' },
      'att_1',
    ],
    [
      [
        { type: 'error', message: 'no' },
        { type: 'result', text: 'x' },
      ],
      { outcome: 'success' },
      'att_1',
    ],
    [[message('ROLE_AGENT', text('x'))], { outcome: 'error', failure: 'program' }, null],
  ])('%j is the outcome %o', (said, outcome, conversation) => {
    const translator = begin();
    expect(translator.push(encode(...said)).conversation).toBe(conversation);
    expect(translator.end(end).outcome).toMatchObject(outcome);
  });

  it('that no program should say becomes notices', () => {
    const { events } = begin().push(
      encode(
        '{}',
        '{"type":"__proto__"}',
        '[1]',
        { type: 'result' },
        message('ROLE_ROOT'),
        message('ROLE_AGENT', 42, { type: 'x' }),
        'Killed',
      ),
    );
    expect(events.length).toBeGreaterThan(3);
    expect(events.every(({ kind }) => kind === 'notice')).toBe(true);
  });

  it('tells the turns of a session apart by their rows, and has its word at the end', () => {
    const dialogue = mine.session!.dialogue({ offset: 0, state: null });
    dialogue.begin({ conversation: null, branch: null, workdir: '/w', model: null, effort: null, mode: 'all' });
    dialogue.tell({ kind: 'prompt', turn: 7, text: 'x' });
    expect(dialogue.word()).toBeNull();
    const steps = dialogue.push(encode(message('ROLE_AGENT', text('a')), { type: 'result', text: 'b' }));
    expect(steps.flatMap(({ events }) => events)).toMatchObject([{ row: 'turn-7-message-1' }, { row: 'turn-7-message-2' }]);
    expect([dialogue.word(), steps.flatMap(({ facts, frames }) => [...facts, ...frames])]).toEqual([{ kind: 'success' }, []]);
  });
});

describe('what an operator declares', () => {
  it('may not have the name of a built-in program', () => {
    expect(() => declare({ claude: { command: ['x'], callsModel: false } })).toThrow(/built-in/);
  });

  it.each([
    [{ Big: { command: ['x'], callsModel: false } }],
    [{ ['a'.repeat(33)]: { command: ['x'], callsModel: false } }],
    [{ a: { command: [], callsModel: false } }],
    [{ a: { command: ['x'] } }],
    [{ a: { command: ['x'], model: 'without-provider' } }],
    [{ a: { command: ['x'], callsModel: false, files: ['relative'] } }],
    [{ a: { command: ['x'], callsModel: false, stray: 1 } }],
  ])('%j is refused', (harnesses) => {
    expect(nodeSchema.safeParse({ harnesses }).success).toBe(false);
  });

  it('is shown with its command where nothing else is said of it', () => {
    expect(
      turnHarness({ id: 'a', description: '', command: ['/x', 'y'], env: {}, model: null, egress: [], files: [] }).summary,
    ).toContain('/x');
  });
});
