import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodeSchema } from '../config/node-schema.ts';
import { RETENTION_MS } from '../kernel/limits.ts';
import { cleanHourly } from './retention.ts';

describe('retention by the node itself', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('takes environments where the operator said after how long, from the moment it is said, and never before', () => {
    const asked: unknown[] = [];
    let retention: object = {};
    const stop = cleanHourly({
      workspace: { reclaim: async () => [], reclaimSetups: async () => undefined as never },
      environments: { prune: async (how) => (asked.push(how), { dryRun: false, olderThanMs: 0, items: [] }) },
      config: { current: () => nodeSchema.parse({ retention }) },
      log: { warn: () => undefined },
      sweepAttachments: async () => 0,
      pruneSessions: async () => undefined,
      conversationsDirectory: join(tmpdir(), 'orrery-no-conversations'),
    });
    vi.advanceTimersByTime(3 * RETENTION_MS);
    expect(asked).toEqual([]);
    retention = { environmentDays: 30 };
    vi.advanceTimersByTime(2 * RETENTION_MS);
    expect(asked).toEqual([
      { dryRun: false, actor: 'node' },
      { dryRun: false, actor: 'node' },
    ]);
    stop();
    vi.advanceTimersByTime(2 * RETENTION_MS);
    expect(asked).toHaveLength(2);
  });
});
