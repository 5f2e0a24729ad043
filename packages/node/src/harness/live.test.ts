import { describe, expect, it } from 'vitest';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import type { Harness } from './harness.ts';
import { piHarness } from './pi/index.ts';

const START = { conversation: null, branch: null, workdir: '/place', model: null, effort: null, mode: 'all' as const };

const delta = (event: object) => ({ type: 'stream_event', parent_tool_use_id: null, event });
const block = (index: number, type: 'text' | 'thinking', ...texts: string[]): object[] => [
  delta({ type: 'content_block_start', index, content_block: { type, [type]: '' } }),
  ...texts.map((text) => delta({ type: 'content_block_delta', index, delta: { type: `${type}_delta`, [type]: text } })),
];
const whole = (content: object) => ({ type: 'assistant', message: { id: 'm1', content: [content] } });
const claude = [
  { type: 'system', subtype: 'init', session_id: 's1', model: 'm' },
  delta({ type: 'message_start', message: { id: 'm1' } }),
  ...[
    ...block(0, 'thinking', 'h', 'm'),
    whole({ type: 'thinking', thinking: 'hm' }),
    delta({ type: 'content_block_stop', index: 0 }),
  ],
  ...[
    ...block(1, 'text', 'one ', 'two'),
    whole({ type: 'text', text: 'one two' }),
    delta({ type: 'content_block_stop', index: 1 }),
  ],
  ...[...block(2, 'text', 'three'), whole({ type: 'text', text: 'three' }), delta({ type: 'message_stop' })],
  // A sub-agent's own stream is not shown; its rows come whole.
  { ...delta({ type: 'message_start', message: { id: 'm2' } }), parent_tool_use_id: 't1' },
];

const notice = (method: string, params: object) => ({ method, params: { threadId: 't', turnId: 'u', ...params } });
const item = (type: string, more: object) => ({ item: { type, id: `${type}1`, ...more } });
const codex = [
  notice('item/started', item('reasoning', { summary: [], content: [] })),
  notice('item/reasoning/summaryPartAdded', { itemId: 'reasoning1', summaryIndex: 0 }),
  notice('item/reasoning/summaryTextDelta', { itemId: 'reasoning1', delta: 'first', summaryIndex: 0 }),
  notice('item/reasoning/summaryPartAdded', { itemId: 'reasoning1', summaryIndex: 1 }),
  notice('item/reasoning/summaryTextDelta', { itemId: 'reasoning1', delta: 'second', summaryIndex: 1 }),
  notice('item/completed', item('reasoning', { summary: ['first', 'second'], content: [] })),
  notice('item/started', item('commandExecution', { command: 'ls', status: 'inProgress' })),
  notice('item/commandExecution/outputDelta', { itemId: 'commandExecution1', delta: 'a\n' }),
  notice('item/commandExecution/outputDelta', { itemId: 'commandExecution1', delta: 'b\n' }),
  notice(
    'item/completed',
    item('commandExecution', { command: 'ls', status: 'completed', aggregatedOutput: 'a\nb\n', exitCode: 0 }),
  ),
  notice('item/started', item('agentMessage', { text: '' })),
  notice('item/agentMessage/delta', { itemId: 'agentMessage1', delta: 'do' }),
  notice('item/agentMessage/delta', { itemId: 'agentMessage1', delta: 'ne' }),
  notice('item/completed', item('agentMessage', { text: 'done' })),
];

const update = (type: string, contentIndex: number, more: object = {}) => ({
  type: 'message_update',
  assistantMessageEvent: { type, contentIndex, ...more },
});
const printed = (text: string) => ({ content: [{ type: 'text', text }] });
const pi = [
  ...[update('thinking_start', 0), update('thinking_delta', 0, { delta: 'hm' }), update('thinking_end', 0)],
  ...[update('text_start', 1), update('text_delta', 1, { delta: 'on' }), update('text_delta', 1, { delta: 'e' })],
  ...[update('text_start', 2), update('text_delta', 2, { delta: 'two' }), update('toolcall_start', 3)],
  {
    type: 'message_end',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      stopReason: 'toolUse',
    },
  },
  { type: 'tool_execution_update', toolCallId: 'c1', toolName: 'bash', args: {}, partialResult: printed('a\n') },
  { type: 'tool_execution_update', toolCallId: 'c1', toolName: 'bash', args: {}, partialResult: printed('a\nb') },
  { type: 'tool_execution_end', toolCallId: 'c1', toolName: 'bash', result: printed('a\nb'), isError: false },
];

/** What a reader saw of each row at the moment when it was stored, beside what was stored. */
const seen = (harness: Harness, frames: readonly object[], restart: boolean): (readonly [string, string, string])[] => {
  const adapter = harness.session!;
  let dialogue = adapter.dialogue({ offset: 0, state: null });
  dialogue.begin(START);
  dialogue.tell({ kind: 'prompt', turn: 1, text: 'go' });
  const live = new Map<string, string>();
  const found: (readonly [string, string, string])[] = [];
  for (const frame of frames) {
    for (const step of dialogue.push(new TextEncoder().encode(`${JSON.stringify(frame)}\n`))) {
      for (const piece of step.live) {
        const key = `${piece.kind} ${piece.row}`;
        live.set(key, 'text' in piece ? piece.text : live.get(key)! + piece.append);
      }
      for (const body of step.events) {
        if (body.kind !== 'text' && body.kind !== 'thinking' && body.kind !== 'tool.result') continue;
        const key = `${body.kind} ${body.row}`;
        found.push([body.kind, live.get(key) ?? '', body.kind === 'tool.result' ? body.output : body.text]);
        live.delete(key);
      }
    }
    if (!restart) continue;
    const { offset, state } = dialogue.position();
    dialogue = adapter.dialogue({ offset, state: JSON.parse(JSON.stringify(state)) });
  }
  expect([...live.keys()]).toEqual([]);
  return found;
};

describe.each([
  [
    claudeHarness,
    claude,
    [
      ['thinking', 'hm'],
      ['text', 'one two'],
      ['text', 'one two\n\nthree'],
    ],
  ],
  [
    codexHarness,
    codex,
    [
      ['thinking', 'first\n\nsecond'],
      ['tool.result', 'a\nb\n'],
      ['text', 'done'],
    ],
  ],
  [
    piHarness,
    pi,
    [
      ['thinking', 'hm'],
      ['text', 'one\n\ntwo'],
      ['tool.result', 'a\nb'],
    ],
  ],
] as const)('live text of $id', (harness, frames, rows) => {
  it.each([false, true])('is what is stored then, to the character (state stored after each line: %s)', (restart) => {
    expect(seen(harness, frames, restart)).toEqual(rows.map(([kind, text]) => [kind, text, text]));
  });
});
