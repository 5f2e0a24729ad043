import { describe, expect, it } from 'vitest';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import { geminiHarness } from './gemini/index.ts';
import type { Harness, SessionAdapter, Translated, Translator, TurnContext } from './harness.ts';
import { piHarness } from './pi/index.ts';
import { spokenTurn, unattendedMode } from './spoken-turn.ts';
import { NOBODY_IS_THERE } from './unattended.ts';

const context: TurnContext = {
  program: { directory: '/programs/x', executable: '/programs/x/bin', version: '1', node: '/node' },
  prompt: 'do it',
  conversation: null,
  model: null,
  effort: null,
  workdir: '/work',
  home: '/home',
  scratchpad: '/tmp-of-it',
  brokerEndpoint: 'http://127.0.0.1:7777',
  tokenFile: '/run/token',
  systemPrompt: null,
  command: null,
  asRoot: false,
};

const adapterOf = ({ session }: Harness): SessionAdapter => {
  if (session === null) throw new Error('it holds no conversations');
  return session;
};
const codex = spokenTurn(adapterOf(codexHarness));
const claude = spokenTurn(adapterOf(claudeHarness));

/** A turn from its stored beginning; `restart` stores the state after each frame and goes on from it, whole or cut. */
const turnOf = (
  { launch, translator }: ReturnType<typeof spokenTurn>,
  more: Partial<TurnContext> = {},
  how: { readonly restart?: boolean; readonly cut?: boolean } = {},
) => {
  let at = { offset: 0, state: launch({ ...context, ...more }).begins ?? {} };
  let reader: Translator = translator(at);
  const said: { key: string; value: unknown }[] = [];
  const all: Translated[] = [];
  const write = (): void => {
    for (const { key, text } of reader.speech?.outbox() ?? []) {
      if (!said.some((one) => one.key === key)) said.push({ key, value: JSON.parse(text) });
      reader.speech?.wrote(key);
    }
  };
  const hear = (frame: object | string): Translated => {
    const bytes = new TextEncoder().encode(`${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`);
    const pieces = how.cut === true ? [...bytes].map((byte) => new Uint8Array([byte])) : [bytes];
    const taken = pieces.map((piece) => reader.push(piece)).at(-1)!;
    const events = taken.events;
    all.push(taken);
    if (how.restart === true) {
      at = JSON.parse(JSON.stringify({ offset: taken.offset, state: taken.state }));
      reader = translator(at);
    }
    write();
    return { ...taken, events };
  };
  write();
  return { hear, said, all, values: () => said.map(({ value }) => value), reader: () => reader };
};

const thread = (id: string) => ({ id: 'thread', result: { thread: { id }, approvalPolicy: 'untrusted' } });
const turnStart = { id: 'turn:1', method: 'turn/start', params: { threadId: 't1', input: [{ type: 'text', text: 'do it' }] } };
const asksCommand = {
  id: 0,
  method: 'item/commandExecution/requestApproval',
  params: { itemId: 'i1', threadId: 't1', turnId: 'u1', command: 'make' },
};
const completed = (status = 'completed') => ({
  method: 'turn/completed',
  params: { threadId: 't1', turn: { id: 'u1', status, error: null, items: [] } },
});
const endOf = (exitCode: number | null) => ({ exitCode, signal: null, stderrTail: 'no such thing\n' });

describe('a turn through a dialogue', () => {
  it.each([{}, { restart: true }, { cut: true }])(
    'greets, waits until it is ready, says the prompt once, and answers (%o)',
    (how) => {
      const turn = turnOf(codex, {}, how);
      expect(turn.values().map((value) => (value as { method: string }).method)).toEqual([
        'initialize',
        'initialized',
        'model/list',
        'thread/start',
      ]);
      expect(turn.hear(thread('t1'))).toMatchObject({ conversation: 't1', accepted: false, settled: false });
      expect(turn.values().slice(4)).toEqual([turnStart]);
      expect(turn.hear({ id: 'turn:1', result: { turn: { id: 'u1' } } })).toMatchObject({ accepted: true, settled: false });
      turn.hear(asksCommand);
      expect(turn.values().slice(5)).toEqual([{ id: 0, result: { decision: 'accept' } }]);
      expect(turn.hear(completed())).toMatchObject({ settled: true });
      expect(turn.reader().end(endOf(0)).outcome).toMatchObject({ outcome: 'success' });
      expect(new Set(turn.said.map(({ key }) => key)).size).toBe(turn.said.length);
    },
  );

  it('has what it says in its state until it is written', () => {
    const first = codex.translator({ offset: 0, state: codex.launch(context).begins ?? {} });
    const stored = first.push(new TextEncoder().encode(`${JSON.stringify(thread('t1'))}\n`));
    const again = codex.translator({ offset: stored.offset, state: JSON.parse(JSON.stringify(stored.state)) });
    expect(again.speech?.outbox()).toEqual(first.speech?.outbox());
    expect(again.speech?.outbox()).toHaveLength(5);
    for (const { key } of again.speech?.outbox() ?? []) again.speech?.wrote(key);
    expect([again.speech?.outbox(), JSON.stringify(again.push(new Uint8Array(0)).state).includes('do it')]).toEqual([[], false]);
  });

  it('a stop of its own, a failure and an end without a word are told apart', () => {
    const outcome = (status: string | null) => {
      const turn = turnOf(codex);
      turn.hear(thread('t1'));
      turn.hear({ id: 'turn:1', result: { turn: { id: 'u1' } } });
      if (status !== null) turn.hear(completed(status));
      return turn.reader().end(endOf(1)).outcome;
    };
    expect(outcome('interrupted')).toMatchObject({ outcome: 'interrupted' });
    expect(outcome('failed')).toMatchObject({ outcome: 'error' });
    expect(outcome(null)).toMatchObject({
      outcome: 'error',
      failure: 'program',
      message: expect.stringContaining('no such thing'),
    });
  });

  it('does not give the prompt to a new conversation where it was to go on with one', () => {
    const turn = turnOf(codex, { conversation: 't0' });
    turn.hear({ id: 'thread', error: { code: -32600, message: 'no rollout found' } });
    expect(turn.hear(thread('t9'))).toMatchObject({ settled: true, conversation: 't0' });
    expect(turn.values().filter((value) => (value as { method: string }).method === 'turn/start')).toEqual([]);
    expect(turn.reader().end(endOf(0)).outcome).toMatchObject({ outcome: 'error', message: expect.stringContaining('t0') });
  });

  it('declines a question with words, and approves a plan', () => {
    const turn = turnOf(claude);
    turn.hear({ type: 'control_response', response: { subtype: 'success', request_id: 'initialize', response: {} } });
    const ask = (request_id: string, tool_name: string, input: object) =>
      turn.hear({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', tool_name, input } });
    const question = {
      questions: [{ question: 'Which?', header: 'W', options: [{ label: 'a', description: '' }], multiSelect: false }],
    };
    const declined = ask('q1', 'AskUserQuestion', question);
    const approved = ask('q2', 'ExitPlanMode', { plan: '1. work' });
    expect(turn.values().slice(2)).toMatchObject([
      { response: { request_id: 'q1', response: { behavior: 'deny', message: expect.stringContaining(NOBODY_IS_THERE) } } },
      { response: { request_id: 'q2', response: { behavior: 'allow' } } },
    ]);
    expect([...declined.events, ...approved.events].map((event) => event.kind)).toEqual(['notice', 'notice']);
  });

  it('is started in the mode all, or in the loosest that it has', () => {
    expect([codexHarness, claudeHarness, piHarness].map((harness) => unattendedMode(adapterOf(harness)))).toEqual([
      'all',
      'all',
      'all',
    ]);
    const { capabilities, ...rest } = adapterOf(claudeHarness);
    expect(unattendedMode({ ...rest, capabilities: { ...capabilities, modes: ['plan', 'ask'] } })).toBe('ask');
  });

  it('what no program should say becomes notices, and a stored state of another shape is refused', () => {
    const turn = turnOf(codex);
    for (const garbage of ['Segmentation fault', '[1,2]', '{"type":"__proto__"}', '{"method":42}', '']) turn.hear(garbage);
    expect(turn.all.flatMap(({ events }) => events).every(({ kind }) => kind === 'notice')).toBe(true);
    expect(() => codex.translator({ offset: 5, state: { something: 'else' } })).toThrow(/reading position/);
  });

  it('is over when the program says that it never takes the prompt', () => {
    const turn = turnOf(spokenTurn(adapterOf(geminiHarness)));
    const { settled, accepted } = turn.hear({ jsonrpc: '2.0', id: 0, error: { code: -32_603, message: 'no home' } });
    expect([settled, accepted]).toEqual([true, false]);
    expect(turn.reader().end(endOf(null)).outcome).toMatchObject({
      ...{ outcome: 'error', failure: 'program', message: 'Gemini CLI: no home' },
    });
    expect(turn.values()).toHaveLength(1);
  });
});
