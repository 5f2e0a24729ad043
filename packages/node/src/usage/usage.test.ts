import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createUsage, usageHandlers } from './index.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
let directory = '';
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-usage-'));
  store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  const call = (task_id: string, model: string, cost_usd: number | null) => ({
    task_id,
    environment_id: 'env',
    provider: 'anthropic',
    model,
    status: 200,
    input_tokens: 100,
    output_tokens: 10,
    cached_tokens: 5,
    reasoning_tokens: 1,
    cost_usd,
    started_at: 1,
    ended_at: 2,
  });
  await store.transaction(async (tx) => {
    await tx.db
      .insertInto('model_call')
      .values([
        call('a', 'cheap', 0.25),
        call('a', 'cheap', 0.5),
        call('a', 'dear', 2),
        call('b', 'cheap', 0.125),
        call('b', 'strange', null),
      ])
      .execute();
  });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

const totals = (calls: number, costUsd: number | null) => ({
  calls,
  inputTokens: 100 * calls,
  outputTokens: 10 * calls,
  cachedTokens: 5 * calls,
  reasoningTokens: calls,
  costUsd,
});

describe('usage', () => {
  it('sums a task, with an unknown cost as soon as one call has none', async () => {
    const usage = createUsage({ store });
    expect(await usage.ofTask('a')).toEqual(totals(3, 2.75));
    expect(await usage.ofTask('b')).toEqual(totals(2, null));
    expect(await usage.ofTask('nobody')).toEqual(totals(0, 0));
  });

  it('is shown by model, dearest first, of all or of one task', async () => {
    const { usageShow } = usageHandlers(createUsage({ store }));
    const show = (query: { task?: string }) => usageShow({ query } as Parameters<typeof usageShow>[0]);
    const row = (model: string, calls: number, costUsd: number | null) => ({
      provider: 'anthropic',
      model,
      ...totals(calls, costUsd),
    });
    expect(await show({})).toEqual({ items: [row('dear', 1, 2), row('cheap', 3, 0.875), row('strange', 1, null)] });
    expect(await show({ task: 'b' })).toEqual({ items: [row('cheap', 1, 0.125), row('strange', 1, null)] });
  });
});
