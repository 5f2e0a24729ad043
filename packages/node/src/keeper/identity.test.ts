import { describe, expect, it } from 'vitest';
import { isAlive, parseStat } from './identity.ts';

const stat = (state: string, start: number): string =>
  `42 (a) b (c)) ${state} 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 ${start} 100 1`;
const table = (line: string | null, bootId = 'boot') => ({
  stat: () => Promise.resolve(line),
  bootId: () => Promise.resolve(bootId),
});
const identity = { pid: 42, startTicks: 77, bootId: 'boot' };

describe('identity of a process', () => {
  it('reads the start time behind a name with spaces and parentheses', () => {
    expect(parseStat(stat('S', 77))).toEqual({ state: 'S', startTicks: 77 });
  });

  it('lives only as the same process of the same boot; a zombie is dead', async () => {
    const alive = await Promise.all([
      isAlive(identity, table(stat('S', 77))),
      isAlive(identity, table(stat('Z', 77))),
      isAlive(identity, table(stat('S', 78))),
      isAlive(identity, table(null)),
      isAlive(identity, table(stat('S', 77), 'another boot')),
    ]);
    expect(alive).toEqual([true, false, false, false, false]);
  });
});
