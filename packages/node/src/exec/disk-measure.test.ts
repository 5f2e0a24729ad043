import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskMeasure } from './disk-measure.ts';
import { DISK_LOOK_KEPT_MS } from './limits.ts';

const MEBIBYTE = 1024 * 1024;

describe('what trees take on disk', () => {
  let place = '';
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  beforeEach(async () => void (place = await mkdtemp(join(tmpdir(), 'orrery-disk-'))));
  afterEach(async () => rm(place, { recursive: true }));

  it('is told of all together, again only after a moment, and of one that is not there as nothing', async () => {
    const measure = createDiskMeasure([place, join(place, 'missing')], clock);
    await writeFile(join(place, 'first'), Buffer.alloc(MEBIBYTE, 1));
    const [one, same] = await Promise.all([measure(), measure()]);
    expect([one === same, (one ?? 0) >= MEBIBYTE]).toEqual([true, true]);
    await writeFile(join(place, 'second'), Buffer.alloc(4 * MEBIBYTE, 1));
    expect(await measure()).toBe(one);
    nowMs += DISK_LOOK_KEPT_MS;
    expect(await measure()).toBeGreaterThanOrEqual(5 * MEBIBYTE);
  });

  it('is not told when looking takes too long', async () => {
    expect(await createDiskMeasure([place], clock, () => AbortSignal.abort())()).toBeNull();
  });
});
