import type { EventBody } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { fullness, tokensText, workInShort, workOf } from './work.ts';

const row = (sequence: number, body: EventBody) => ({
  event: { seq: sequence, at: '2026-01-01T00:00:00.000Z', taskId: null, sequence, turn: 1, body },
});
const side = (kind: 'agent' | 'background', name: string, state: 'running' | 'completed'): EventBody => ({
  ...{ kind, row: name, name, state, summary: null },
});
const plan = (...statuses: ('pending' | 'active' | 'done')[]): EventBody => ({
  kind: 'plan',
  row: 'p',
  entries: statuses.map((status, place) => ({ text: `step ${place}`, status })),
});

describe('what goes on beside the words', () => {
  it('is the newest plan, and what still works before what is over', () => {
    const work = workOf([
      row(1, plan('active', 'pending')),
      row(2, side('agent', 'looks', 'completed')),
      row(3, side('background', 'server', 'running')),
      row(4, plan('done', 'active')),
    ]);
    expect(work.plan.map(({ status }) => status)).toEqual(['done', 'active']);
    expect(work.beside.map(({ name }) => name)).toEqual(['server', 'looks']);
    expect(workInShort(work)).toBe('plan 1 of 2 · 1 background command');
  });

  it('is nothing where nothing was said of it, and says that none runs', () => {
    expect(workInShort(workOf([row(1, { kind: 'text', row: 'a', text: 'hello' })]))).toBeNull();
    expect(workInShort(workOf([row(1, side('agent', 'looks', 'completed'))]))).toBe('1 beside, none runs');
    expect(workInShort(workOf([row(1, side('agent', 'a', 'running')), row(2, side('agent', 'b', 'running'))]))).toBe(
      '2 sub-agents',
    );
  });
});

describe('how full a window is', () => {
  it('is a share, and unknown where its size is', () => {
    expect(fullness({ usedTokens: 50, windowTokens: 200 })).toBe(0.25);
    expect(fullness({ usedTokens: 500, windowTokens: 200 })).toBe(1);
    expect([fullness({ usedTokens: 5, windowTokens: null }), fullness({ usedTokens: 5, windowTokens: 0 })]).toEqual([null, null]);
  });

  it('is told in three digits', () => {
    expect([0, 999, 1_000, 12_449, 99_949, 99_950, 999_499, 999_500, 1_250_000].map(tokensText)).toEqual([
      ...['0', '999', '1.0k', '12.4k', '99.9k', '100k', '999k', '1.0M', '1.3M'],
    ]);
  });
});
