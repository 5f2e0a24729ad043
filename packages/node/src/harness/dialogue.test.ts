import type { PermissionMode } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import type { Dialogue, DialogueStep, SessionCommand, SessionFact } from './dialogue.ts';
import type { Harness, SessionAdapter } from './harness.ts';
import { piHarness } from './pi/index.ts';

/** What happens in a session: the program says a frame, or is told something. */
type Happening = { readonly hear: object | string } | { readonly tell: SessionCommand };

const START = { conversation: null, workdir: '/place', model: null, effort: null, mode: 'ask' as PermissionMode };

const adapterOf = ({ session }: Harness): SessionAdapter => {
  if (session === null) throw new Error('it holds no conversations');
  return session;
};

const bytesOf = (frame: object | string): Uint8Array =>
  new TextEncoder().encode(`${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`);

type Played = { readonly steps: readonly DialogueStep[]; readonly dialogue: Dialogue };

/** Plays happenings; `cut` gives bytes one at a time, `restart` stores the state after each happening and goes on from it. */
const play = (adapter: SessionAdapter, script: readonly Happening[], how: { cut?: boolean; restart?: boolean } = {}): Played => {
  let dialogue = adapter.dialogue({ offset: 0, state: null });
  const steps: DialogueStep[] = [dialogue.begin(START)];
  for (const happening of script) {
    if ('tell' in happening) steps.push(dialogue.tell(happening.tell));
    else {
      const bytes = bytesOf(happening.hear);
      const pieces = how.cut === true ? [...bytes].map((byte) => new Uint8Array([byte])) : [bytes];
      for (const piece of pieces) steps.push(...dialogue.push(piece));
    }
    if (how.restart !== true) continue;
    const { offset, state } = dialogue.position();
    dialogue = adapter.dialogue({ offset, state: JSON.parse(JSON.stringify(state)) });
  }
  return { steps, dialogue };
};

const factsOf = ({ steps }: Played): readonly SessionFact[] => steps.flatMap(({ facts }) => facts);
const saidOf = ({ steps }: Played): readonly unknown[] =>
  steps.flatMap(({ frames }) => frames.map(({ text }) => JSON.parse(text) as unknown));
const prompt = (turn: number, text = `turn ${turn}`): Happening => ({ tell: { kind: 'prompt', turn, text } });
const steer = (key: string): Happening => ({ tell: { kind: 'steer', key, text: `words of ${key}` } });
const answer = (key: string, outcome: 'approved' | 'denied' | 'timed-out', message: string | null = null): Happening => ({
  tell: { kind: 'answer', key, outcome, message },
});

const replay = (text: string) => ({ type: 'user', isReplay: true, message: { role: 'user', content: [{ type: 'text', text }] } });
const result = { type: 'result', subtype: 'success', is_error: false, session_id: 's1', result: 'ok' };
const asks = {
  type: 'control_request',
  request_id: 'q1',
  request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'rm -r x' }, permission_suggestions: [{ a: 1 }] },
};
const claudeReady: Happening = {
  hear: {
    type: 'control_response',
    response: {
      subtype: 'success',
      request_id: 'initialize',
      response: {
        commands: [{ name: 'compact', description: 'Shorten' }],
        models: [{ value: 'm', supportedEffortLevels: ['low'] }],
      },
    },
  },
};
const claudeInit: Happening = {
  hear: { type: 'system', subtype: 'init', session_id: 's1', model: 'm', permissionMode: 'default' },
};

const item = (type: 'item/started' | 'item/completed', value: object): Happening => ({
  hear: { method: type, params: { item: value, threadId: 't1', turnId: 'u1' } },
});
const codexReady: Happening = { hear: { id: 'thread', result: { thread: { id: 't1' }, approvalPolicy: 'untrusted' } } };
const codexTurn = (turn: number): Happening => ({ hear: { id: `turn:${turn}`, result: { turn: { id: `u${turn}` } } } });
const codexEnds = (turn: number, status = 'completed'): Happening => ({
  hear: { method: 'turn/completed', params: { threadId: 't1', turn: { id: `u${turn}`, status, error: null } } },
});
const codexAsks: Happening = {
  hear: {
    id: 0,
    method: 'item/commandExecution/requestApproval',
    params: { itemId: 'c1', command: "/bin/bash -lc 'rm -r x'", cwd: '/place' },
  },
};

const piReady: Happening = {
  hear: { id: 'get_state', type: 'response', command: 'get_state', success: true, data: { sessionId: 'p1' } },
};
const piUser = (text: string): Happening => ({
  hear: { type: 'message_end', message: { role: 'user', content: [{ type: 'text', text }] } },
});
const piSays = (text: string): Happening => ({
  hear: { type: 'message_end', message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' } },
});
const piSettled: Happening = { hear: { type: 'agent_settled', aborted: false } };

/** A session of two turns with a steer and a question, as each program says it. */
const whole: readonly (readonly [Harness, readonly Happening[]])[] = [
  [
    claudeHarness,
    [
      ...[claudeReady, prompt(1), claudeInit, { hear: replay('turn 1') }, { hear: asks }, answer('q1', 'approved')],
      ...[
        steer('k1'),
        { hear: replay('words of k1') },
        { hear: result },
        prompt(2),
        { hear: replay('turn 2') },
        { hear: result },
      ],
    ],
  ],
  [
    codexHarness,
    [
      ...[codexReady, prompt(1), codexTurn(1), codexAsks, answer('0', 'approved'), steer('k1')],
      item('item/completed', { type: 'userMessage', id: 'w1', content: [{ type: 'text', text: 'words of k1' }] }),
      item('item/completed', { type: 'agentMessage', id: 'a1', text: 'grüße' }),
      ...[codexEnds(1), prompt(2), codexTurn(2), codexEnds(2)],
    ],
  ],
  [
    piHarness,
    [
      ...[piReady, prompt(1), piUser('turn 1'), steer('k1'), piUser('words of k1'), piSays('grüße'), piSettled],
      ...[prompt(2), piUser('turn 2'), piSays('again'), piSettled],
    ],
  ],
];

const GARBAGE: readonly (object | string)[] = [
  ...['Segmentation fault', '{"type":', '[1,2]', '{}'],
  ...[{ type: null }, { type: '__proto__' }, { type: 'control_request' }, { type: 'response' }, { type: 'hologram' }],
  ...[{ method: 7 }, { id: 0 }, { method: 'item/completed', params: {} }, { method: 'hologram' }],
];

describe.each(whole)('the dialogue of $id', (harness, script) => {
  const adapter = adapterOf(harness);
  const ends = [1, 2].map((turn) => expect.objectContaining({ kind: 'ended', turn, reported: { kind: 'success' } }));

  it('is ready, takes prompts and steers, and ends its turns', () => {
    const facts = factsOf(play(adapter, script));
    expect(facts.map(({ kind }) => kind)).toContain('ready');
    expect(facts.filter(({ kind }) => kind === 'ended')).toEqual(ends);
    expect(facts).toContainEqual({ kind: 'steered', key: 'k1', refused: null });
    expect(facts.filter(({ kind }) => kind === 'accepted').length).toBeGreaterThanOrEqual(2);
  });

  it('is the same byte by byte, and from each stored state', () => {
    const plain = play(adapter, script).steps;
    expect(play(adapter, script, { cut: true }).steps).toEqual(plain);
    expect(play(adapter, script, { restart: true }).steps).toEqual(plain);
    expect(play(adapter, script, { cut: true, restart: true }).steps).toEqual(plain);
  });

  it('names each line it wants written once, and the prompts among them', () => {
    const frames = play(adapter, script).steps.flatMap((step) => step.frames);
    expect(new Set(frames.map(({ key }) => key)).size).toBe(frames.length);
    expect(frames.flatMap(({ prompt: turn }) => (turn === null ? [] : [turn]))).toEqual([1, 2]);
    expect(frames.every(({ text }) => text.endsWith('\n') && text.indexOf('\n') === text.length - 1)).toBe(true);
  });

  it('is troubled by nothing that a program should not say, at any moment', () => {
    const noisy = script.flatMap((happening) => [happening, ...GARBAGE.map((hear): Happening => ({ hear }))]);
    const played = play(adapter, noisy);
    expect(factsOf(played).filter(({ kind }) => kind === 'ended')).toEqual(ends);
    expect(played.steps.flatMap(({ events }) => events).some((event) => event.kind === 'notice')).toBe(true);
  });

  it('refuses a stored state of another shape', () => {
    expect(() => adapter.dialogue({ offset: 5, state: { something: 'else' } })).toThrow(/reading position/);
  });
});

describe('what is asked', () => {
  it('by Claude Code is told with the exact command, and answered in its own form', () => {
    const claude = adapterOf(claudeHarness);
    const before: Happening[] = [claudeReady, prompt(1), { hear: asks }];
    const [open] = factsOf(play(claude, before)).filter((fact) => fact.kind === 'asks');
    expect(open).toMatchObject({ key: 'q1', ask: { kind: 'command', tool: 'Bash', command: 'rm -r x' } });
    const responses = (happening: Happening): unknown => saidOf(play(claude, [...before, happening])).at(-1);
    expect(responses(answer('q1', 'approved'))).toMatchObject({
      response: { request_id: 'q1', response: { behavior: 'allow', updatedInput: { command: 'rm -r x' } } },
    });
    expect(responses(answer('q1', 'denied', 'not that'))).toMatchObject({
      response: { response: { behavior: 'deny', message: 'not that' } },
    });
    expect(responses(answer('q1', 'timed-out'))).toMatchObject({
      response: { response: { behavior: 'deny', message: expect.stringContaining('in time') } },
    });
    const cancelled = play(claude, [...before, { hear: { type: 'control_cancel_request', request_id: 'q1' } }]);
    expect(factsOf(cancelled).at(-1)).toEqual({ kind: 'withdrawn', key: 'q1' });
    expect(() => cancelled.dialogue.tell({ kind: 'answer', key: 'q1', outcome: 'approved', message: null })).toThrow(
      /does not ask/,
    );
  });

  it('by Codex under the id 0 is a question like any other', () => {
    const codex = adapterOf(codexHarness);
    const before = [codexReady, prompt(1), codexTurn(1), codexAsks];
    expect(factsOf(play(codex, before)).at(-1)).toMatchObject({
      kind: 'asks',
      key: '0',
      ask: { kind: 'command', command: "/bin/bash -lc 'rm -r x'" },
    });
    expect(saidOf(play(codex, [...before, answer('0', 'denied')])).at(-1)).toEqual({ id: 0, result: { decision: 'decline' } });
  });

  it('by Codex of a change of files is told with its paths and the change', () => {
    const change = { type: 'fileChange', id: 'f1', status: 'inProgress', changes: [{ path: '/place/a', kind: {}, diff: '+x' }] };
    const played = play(adapterOf(codexHarness), [
      ...[codexReady, prompt(1), codexTurn(1), item('item/started', change)],
      { hear: { id: 1, method: 'item/fileChange/requestApproval', params: { itemId: 'f1', reason: null } } },
    ]);
    expect(factsOf(played).at(-1)).toMatchObject({ ask: { kind: 'edit', paths: ['/place/a'], detail: '/place/a\n+x' } });
  });

  it('that nobody here can answer is refused to the program, and said once', () => {
    const asked = { id: 3, method: 'account/chatgptAuthTokens/refresh', params: {} };
    const played = play(adapterOf(codexHarness), [codexReady, { hear: asked }]);
    expect(saidOf(played).at(-1)).toMatchObject({ id: 3, error: { code: -32601 } });
  });
});

it('a question of Claude Code that comes with nothing beside the tool is asked all the same', () => {
  const bare = { type: 'control_request', request_id: 'q2', request: { subtype: 'can_use_tool', tool_name: 'Odd' } };
  const played = play(adapterOf(claudeHarness), [claudeReady, prompt(1), { hear: bare }]);
  expect(factsOf(played).at(-1)).toMatchObject({
    kind: 'asks',
    key: 'q2',
    ask: { kind: 'tool', outcomes: ['approved', 'denied'] },
  });
});

describe('words that come late', () => {
  it.each([
    ['after it said that a turn begins', [claudeInit, { hear: replay('words of k1') }]],
    ['before', [{ hear: replay('words of k1') }, claudeInit]],
  ])('begin the next turn of Claude Code, which says them %s, and that is told', (_, beginning) => {
    const first: Happening[] = [claudeReady, prompt(1), { hear: replay('turn 1') }, steer('k1'), { hear: result }];
    const played = play(adapterOf(claudeHarness), [...first, ...beginning, { hear: result }]);
    expect(factsOf(played).filter(({ kind }) => kind === 'began')).toEqual([{ kind: 'began', turn: 2, key: 'k1' }]);
    expect(factsOf(played).at(-1)).toMatchObject({ kind: 'ended', turn: 2 });
  });

  it.each([
    ['Codex', codexHarness, [codexReady, prompt(1), codexTurn(1), steer('k1'), codexEnds(1)]],
    ['Pi', piHarness, [piReady, prompt(1), piUser('turn 1'), steer('k1'), piSettled]],
  ] as const)('are told as not heard by %s', (_, harness, script) => {
    expect(factsOf(play(adapterOf(harness), script))).toContainEqual({ kind: 'steered', key: 'k1', refused: expect.any(String) });
  });
});

describe('a stop', () => {
  it('that comes before Codex named its turn is kept until it does', () => {
    const played = play(adapterOf(codexHarness), [codexReady, prompt(1), { tell: { kind: 'interrupt' } }, codexTurn(1)]);
    expect(saidOf(played).at(-1)).toMatchObject({ method: 'turn/interrupt', params: { threadId: 't1', turnId: 'u1' } });
  });

  it('is for the turn that runs, whatever Codex still says of the one before', () => {
    const late: Happening[] = [codexReady, prompt(1), codexTurn(1), codexEnds(1), prompt(2), codexTurn(1)];
    const played = play(adapterOf(codexHarness), [...late, { tell: { kind: 'interrupt' } }, codexTurn(2)]);
    expect(saidOf(played).at(-1)).toMatchObject({ method: 'turn/interrupt', params: { turnId: 'u2' } });
  });

  it('ends a turn as stopped', () => {
    const played = play(adapterOf(codexHarness), [codexReady, prompt(1), codexTurn(1), codexEnds(1, 'interrupted')]);
    expect(factsOf(played).at(-1)).toEqual({ kind: 'ended', turn: 1, reported: { kind: 'stopped' } });
  });
});

it('a conversation that Codex does not have is replaced by a new one, and that is said', () => {
  const codex = adapterOf(codexHarness);
  const dialogue = codex.dialogue({ offset: 0, state: null });
  dialogue.begin({ ...START, conversation: 'gone' });
  const [step] = dialogue.push(bytesOf({ id: 'thread', error: { code: -32600, message: 'no rollout found' } }));
  expect(step?.frames.map(({ text }) => JSON.parse(text) as unknown)).toMatchObject([{ method: 'thread/start' }]);
  expect(step?.events).toMatchObject([{ kind: 'notice', level: 'warning' }]);
});

it('Pi is told no mode that it cannot keep', () => {
  const { dialogue } = play(adapterOf(piHarness), [piReady]);
  expect(() => dialogue.tell({ kind: 'mode', mode: 'ask' })).toThrow(/cannot/);
});

it('a last line without its end is read when the program has ended, and not before', () => {
  const { dialogue } = play(adapterOf(piHarness), [piReady, prompt(1), piUser('turn 1'), piSays('last')]);
  const settled = JSON.stringify({ type: 'agent_settled', aborted: false });
  expect(dialogue.push(new TextEncoder().encode(settled))).toEqual([]);
  expect(dialogue.end().facts).toEqual([{ kind: 'ended', turn: 1, reported: { kind: 'success' } }]);
});
