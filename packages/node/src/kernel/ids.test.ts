import { isId } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';
import { createIds } from './ids.ts';
import { randomHex, systemRandom } from './random.ts';

describe('ids', () => {
  it('have the form of their kind and sort by the time they were made', () => {
    let nowMs = 1_000;
    const ids = createIds({ clock: { ...systemClock, nowMs: () => nowMs }, random: systemRandom });
    const first = ids('task');
    nowMs = 1_001;
    const second = ids('task');
    expect(isId('task', first)).toBe(true);
    expect([second, first].toSorted()).toEqual([first, second]);
  });

  it('differ within one millisecond', () => {
    const ids = createIds({ clock: { ...systemClock, nowMs: () => 5 }, random: systemRandom });
    expect(new Set(Array.from({ length: 500 }, () => ids('run'))).size).toBe(500);
  });

  it('come from the generator that was given', () => {
    expect(randomHex({ bytes: (count) => new Uint8Array(count).fill(0xab) }, 3)).toBe('ababab');
  });
});
