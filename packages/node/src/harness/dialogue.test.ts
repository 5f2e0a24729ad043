import { describe, expect, it } from 'vitest';
import {
  START,
  adapterOf,
  bytesOf,
  play,
  factsOf,
  saidOf,
  prompt,
  steer,
  answer,
  replay,
  result,
  asks,
  claudeReady,
  claudeInit,
  item,
  codexReady,
  codexTurn,
  codexBegins,
  codexEnds,
  codexAsks,
  piReady,
  piUser,
  piSays,
  piSettled,
  type Happening,
} from '../../test/dialogue-script.ts';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import { piHarness } from './pi/index.ts';
import type { Harness } from './harness.ts';

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

  it.each([claudeHarness, piHarness])(
    'is told words that begin with a slash as words, also in a turn that runs: $id',
    (harness) => {
      const ready = harness === claudeHarness ? claudeReady : piReady;
      const told: Happening = { tell: { kind: 'steer', key: 'k1', text: '/skill:foo on' } };
      const said = JSON.stringify(saidOf(play(adapterOf(harness), [ready, prompt(1), told])));
      expect(said).toContain('" /skill:foo on"');
    },
  );

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

it.each([
  [
    'Codex',
    codexHarness,
    [codexReady, prompt(1), codexTurn(1), steer('k1')],
    { id: 'steer:k1', error: { code: -32600, message: 'no' } },
  ],
  [
    'Pi',
    piHarness,
    [piReady, prompt(1), piUser('turn 1'), steer('k1')],
    { type: 'response', id: 'steer:k1', command: 'steer', success: false, error: 'no' },
  ],
] as const)('words that %s refuses by its own answer are told to have reached nobody', (_, harness, script, hear) => {
  expect(factsOf(play(adapterOf(harness), [...script, { hear }]))).toContainEqual({
    ...{ kind: 'steered', key: 'k1', refused: 'no', untaken: true },
  });
});

describe('a stop', () => {
  const stop: Happening = { tell: { kind: 'interrupt' } };

  it.each([
    ['named its turn', [stop, codexTurn(1), codexBegins(1)]],
    ['named its turn, which it then says late', [stop, codexBegins(1), codexTurn(1)]],
    // It refuses to stop a turn that it has named and not begun, and goes on with it.
    ['began the turn that it named', [codexTurn(1), stop, codexBegins(1)]],
  ])('that comes before Codex %s is kept until it does', (_, rest) => {
    const said = rest.map((__, end) => saidOf(play(adapterOf(codexHarness), [codexReady, prompt(1), ...rest.slice(0, end)])));
    expect(said.flat().filter((one) => (one as { method?: string }).method === 'turn/interrupt')).toEqual([]);
    const whole = saidOf(play(adapterOf(codexHarness), [codexReady, prompt(1), ...rest]));
    expect(whole.at(-1)).toMatchObject({ method: 'turn/interrupt', params: { threadId: 't1', turnId: 'u1' } });
  });

  it('that comes before Pi has put the words of the turn before its model is said again then', () => {
    const aborts = (...rest: Happening[]) =>
      saidOf(play(adapterOf(piHarness), [piReady, prompt(1), ...rest])).filter(
        (one) => (one as { type: string }).type === 'abort',
      );
    expect([aborts(stop).length, aborts(stop, piUser('turn 1')).length, aborts(piUser('turn 1'), stop).length]).toEqual([
      1, 2, 1,
    ]);
  });

  it('is for the turn that runs, whatever Codex still says of the one before', () => {
    const late: Happening[] = [codexReady, prompt(1), codexTurn(1), codexEnds(1), prompt(2), codexTurn(1)];
    const played = play(adapterOf(codexHarness), [...late, stop, codexTurn(2), codexBegins(2)]);
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
