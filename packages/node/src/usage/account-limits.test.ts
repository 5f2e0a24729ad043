import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { dueLimits, limitOf, limitText, markLifted, noteTurn } from './index.ts';
import { USAGE_LIMIT_FAR_MS, USAGE_LIMIT_MOST_MS, USAGE_LIMIT_MS } from './limits.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const account = 'claude/anthropic';
const T = Date.parse('2030-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(ms).toISOString();
let directory = '';
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-limits-'));
  store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

const note = (outcome: string, given: { startedAt: number; nowMs: number; resetsAt?: string | null }): Promise<void> =>
  store.transaction((tx) => noteTurn(tx, { account, outcome, resetsAt: null, ...given }));
const holds = async (nowMs: number): Promise<number | null> => (await limitOf(store.read, account, nowMs))?.until ?? null;
const lift = (): Promise<void> => store.transaction((tx) => markLifted(tx, account));

describe('a usage limit', () => {
  it('holds until the instant that was said, for its account alone', async () => {
    await note('limit', { startedAt: T - 10, nowMs: T, resetsAt: at(T + 5_000) });
    expect(await limitOf(store.read, account, T + 4_999)).toEqual({ account, until: T + 5_000, told: true, metAt: T });
    expect(await limitOf(store.read, 'codex/openai', T)).toBeNull();
    expect(await holds(T + 5_000)).toBeNull();
    expect(await dueLimits(store.read, T + 4_999)).toEqual([]);
    expect(await dueLimits(store.read, T + 5_000)).toEqual([{ account, since: T, metAt: T, known: true }]);
    await lift();
    expect(await dueLimits(store.read, T + 9_000)).toEqual([]);
  });

  it('of which nobody said when it ends holds longer each time it is met again, up to a bound', async () => {
    let nowMs = T;
    const waits: number[] = [];
    for (let times = 0; times < 7; times++) {
      await note('limit', { startedAt: nowMs, nowMs, resetsAt: null });
      const until = (await holds(nowMs))!;
      waits.push(until - nowMs);
      nowMs = until;
      await lift();
    }
    const expected = [1, 2, 4, 8, 16, 32, 64].map((times) => Math.min(times * USAGE_LIMIT_MS, USAGE_LIMIT_MOST_MS));
    expect(waits).toEqual(expected);
    expect(waits.at(-1)).toBe(USAGE_LIMIT_MOST_MS);
  });

  it('that ends in the past or in years by its own word is not believed', async () => {
    await note('limit', { startedAt: T, nowMs: T, resetsAt: at(T - 1) });
    expect(await holds(T)).toBe(T + USAGE_LIMIT_MS);
    await note('limit', { startedAt: T, nowMs: T, resetsAt: at(T + 10 * USAGE_LIMIT_FAR_MS) });
    expect(await holds(T)).toBe(T + USAGE_LIMIT_FAR_MS);
    await note('limit', { startedAt: T, nowMs: T, resetsAt: 'soon' });
    expect(await holds(T)).toBe(T + USAGE_LIMIT_FAR_MS);
  });

  it('that others meet which were under way counts once', async () => {
    await note('limit', { startedAt: T - 10, nowMs: T });
    await note('limit', { startedAt: T - 20, nowMs: T + 1 });
    expect(await holds(T + 1)).toBe(T + USAGE_LIMIT_MS);
  });

  it('is over when a turn succeeds that began after it was met, and not by one from before', async () => {
    await note('limit', { startedAt: T - 10, nowMs: T, resetsAt: at(T + 60_000) });
    await note('success', { startedAt: T - 5, nowMs: T + 1 });
    expect(await holds(T + 1)).toBe(T + 60_000);
    await note('error', { startedAt: T + 2, nowMs: T + 3 });
    expect(await holds(T + 3)).toBe(T + 60_000);
    await note('success', { startedAt: T + 2, nowMs: T + 4 });
    expect(await holds(T + 4)).toBeNull();
    expect(await dueLimits(store.read, T + 4)).toEqual([{ account, since: T, metAt: T, known: true }]);
    await lift();
    // Forgotten: the next one counts from the beginning.
    await note('limit', { startedAt: T + 10, nowMs: T + 10 });
    expect(await holds(T + 10)).toBe(T + 10 + USAGE_LIMIT_MS);
  });

  it('is told in words', () => {
    const limit = { account, until: T, metAt: 0 };
    expect(limitText({ ...limit, told: true })).toBe('the usage limit of claude/anthropic, until 2030-01-01T00:00:00.000Z');
    expect(limitText({ ...limit, told: false })).toContain('nobody said when it ends');
  });
});
