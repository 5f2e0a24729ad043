import type { InteractionOutcome } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { play, type Happening } from '../../../test/acp-play.ts';

const ready: readonly Happening[] = [
  { hear: { id: 0, result: { protocolVersion: 1 } } },
  { hear: { id: 1, result: { sessionId: 's1' } } },
  { tell: { kind: 'prompt', turn: 1, text: 'Do it.' } },
];
const options = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const asks = (
  toolCall: object,
  more: { readonly id?: number | string | null; readonly options?: readonly object[] } = {},
): Happening => ({
  hear: {
    id: more.id === undefined ? 0 : more.id,
    method: 'session/request_permission',
    params: { sessionId: 's1', toolCall: { toolCallId: 'c', ...toolCall }, options: more.options ?? options },
  },
});
const asked = (toolCall: object, more?: Parameters<typeof asks>[1]) => {
  const fact = play([...ready, asks(toolCall, more)]).facts.find(({ kind }) => kind === 'asks');
  if (fact?.kind !== 'asks') throw new Error('it asked nothing');
  return fact.ask;
};
const command = { kind: 'execute', title: 'rm -r x (to clean up)', rawInput: { command: 'rm -r x' } };

describe('what an agent asks', () => {
  it.each([
    ['a command by its input', command, { kind: 'command', command: 'rm -r x', paths: [] }],
    ['a command by its title', { kind: 'execute', title: 'rm -r x' }, { kind: 'command', command: 'rm -r x' }],
    [
      'a command with arguments beside it',
      { kind: 'execute', rawInput: { command: 'git', args: ['push', '--force', "it's"] } },
      { kind: 'command', command: "git push --force 'it'\\''s'" },
    ],
    [
      'a command in words that hold more than one',
      { kind: 'execute', rawInput: { command: ['sh', '-c', 'a; b'] } },
      { kind: 'command', command: "sh -c 'a; b'" },
    ],
    ['a command in words', { kind: 'execute', rawInput: { command: ['rm', '-r'] } }, { kind: 'command', command: 'rm -r' }],
    [
      'a command that calls itself an edit',
      { kind: 'edit', rawInput: { command: 'rm x' } },
      { kind: 'command', command: 'rm x' },
    ],
    [
      'a change',
      { kind: 'edit', locations: [{ path: '/p/a' }], rawInput: { file_path: '/p/b' } },
      { kind: 'edit', paths: ['/p/a', '/p/b'] },
    ],
    ['a deletion', { kind: 'delete', rawInput: { path: '/p/a' } }, { kind: 'edit', paths: ['/p/a'] }],
    [
      'a plan',
      { kind: 'switch_mode', title: 'Ready?', content: [{ type: 'content', content: { type: 'text', text: 'First.' } }] },
      { kind: 'plan', detail: expect.stringContaining('First.') },
    ],
    [
      'any other tool',
      { kind: 'fetch', title: 'Fetch it', rawInput: { url: 'u' } },
      { kind: 'tool', title: 'Fetch it', detail: '{"url":"u"}' },
    ],
  ])('%s', (_, toolCall, expected) => expect(asked(toolCall)).toMatchObject(expected));

  it('shows a change as the lines that go and come', () => {
    const diff = { type: 'diff', path: '/p/a', oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' };
    expect(asked({ kind: 'edit', content: [diff] })).toMatchObject({ paths: ['/p/a'], detail: '/p/a\n@@ line 2 @@\n-two\n+2' });
  });

  it('names every file that the call named before', () => {
    const told: Happening = {
      hear: {
        method: 'session/update',
        params: {
          sessionId: 's1',
          update: { sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', locations: [{ path: '/etc/x' }] },
        },
      },
    };
    const { facts } = play([...ready, told, asks({ kind: 'edit', locations: [{ path: '/p/a' }] })]);
    expect(facts.at(-1)).toMatchObject({ ask: { paths: ['/p/a', '/etc/x'] } });
  });

  it('tells the call in the log before it is answered', () => {
    expect(play([...ready, asks(command)]).events.at(-1)).toEqual({
      ...{ kind: 'tool.call', row: 'c', tool: 'execute', input: '{"command":"rm -r x"}' },
    });
  });

  it('offers the outcomes that the agent has a choice for', () => {
    expect(asked(command).outcomes).toEqual(['approved', 'approved-for-session', 'denied']);
    expect(asked(command, { options: options.slice(1) }).outcomes).toEqual(['approved', 'denied']);
    expect(asked(command, { options: [] }).outcomes).toEqual(['denied']);
  });
});

describe('what it is answered', () => {
  const answered = (outcome: InteractionOutcome, choices: readonly object[] = options) =>
    play([
      ...ready,
      asks(command, { options: choices }),
      { tell: { kind: 'answer', key: '0', outcome, answers: null, message: null } },
    ]).said.at(-1);

  it.each([
    ['approved', { outcome: 'selected', optionId: 'once' }],
    ['approved-for-session', { outcome: 'selected', optionId: 'always' }],
    ['denied', { outcome: 'selected', optionId: 'no' }],
    ['timed-out', { outcome: 'selected', optionId: 'no' }],
    ['withdrawn', { outcome: 'cancelled' }],
  ] as const)('%s', (outcome, chosen) => expect(answered(outcome)).toMatchObject({ id: 0, result: { outcome: chosen } }));

  it.each(['approved', 'denied', 'timed-out'] as const)('%s, of an agent without that choice, is no permission', (outcome) => {
    expect(answered(outcome, options.slice(0, 1))).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } });
  });

  it('tells with the next words why it was not allowed, once', () => {
    const timedOut: Happening = { tell: { kind: 'answer', key: '0', outcome: 'timed-out', answers: null, message: null } };
    const over: Happening = { hear: { id: 2, result: { stopReason: 'end_turn' } } };
    const again = (turn: number): Happening => ({ tell: { kind: 'prompt', turn, text: 'Go on.' } });
    const { said } = play([
      ...ready,
      asks(command),
      timedOut,
      over,
      again(2),
      { hear: { id: 3, result: { stopReason: 'end_turn' } } },
      again(3),
    ]);
    const text = '[Orrery] Not allowed: rm -r x\nWhy: Nobody answered in time.';
    const goOn = { type: 'text', text: 'Go on.' };
    expect(said.at(-2)).toMatchObject({ params: { prompt: [{ type: 'text', text }, goOn] } });
    expect(said.at(-1)).toMatchObject({ params: { prompt: [goOn] } });
  });

  it('a number and a text that look alike are two questions', () => {
    const { said } = play([
      ...ready,
      asks(command, { id: 0 }),
      asks(command, { id: '0' }),
      { tell: { kind: 'answer', key: '"0"', outcome: 'denied', answers: null, message: null } },
      { tell: { kind: 'answer', key: '0', outcome: 'approved', answers: null, message: null } },
    ]);
    expect(said.slice(-2)).toMatchObject([
      { id: '0', result: { outcome: { optionId: 'no' } } },
      { id: 0, result: { outcome: { optionId: 'once' } } },
    ]);
  });

  it('a question that it takes back is withdrawn, and cannot be answered', () => {
    const back: Happening = { hear: { method: '$/cancel_request', params: { requestId: 0 } } };
    const { facts, said } = play([...ready, asks(command), back]);
    expect(facts.at(-1)).toEqual({ kind: 'withdrawn', key: '0' });
    expect(said.at(-1)).toMatchObject({ id: 0, error: { code: -32_800 } });
    const late: Happening = { tell: { kind: 'answer', key: '0', outcome: 'approved', answers: null, message: null } };
    expect(() => play([...ready, asks(command), back, late])).toThrow(/does not ask/);
  });

  it('a question of another shape is refused', () => {
    const odd: Happening = { hear: { id: 5, method: 'session/request_permission', params: { sessionId: 's1' } } };
    expect(play([...ready, odd]).said.at(-1)).toMatchObject({ id: 5, error: { code: -32_602 } });
  });
});
