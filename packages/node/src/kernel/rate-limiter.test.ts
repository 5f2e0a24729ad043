import { describe, expect, it } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

describe('a rate limiter', () => {
  it('lets a burst through, says how long to wait, and fills with time, each key alone', () => {
    let nowMs = 0;
    const limiter = createRateLimiter({ burst: 2, perSecond: 10, keys: 10, clock: { monotonicMs: () => nowMs } });
    expect([limiter.take('a'), limiter.take('a'), limiter.take('a'), limiter.take('b')]).toEqual([0, 0, 100, 0]);
    nowMs = 60;
    expect(limiter.wait('a')).toBe(40);
    nowMs = 100;
    expect([limiter.wait('a'), limiter.take('a'), limiter.take('a')]).toEqual([0, 0, 100]);
    nowMs = 10_000;
    expect([limiter.take('a'), limiter.take('a'), limiter.take('a')]).toEqual([0, 0, 100]);
  });

  it('remembers a bounded number of keys, the latest used', () => {
    const limiter = createRateLimiter({ burst: 1, perSecond: 1, keys: 2, clock: { monotonicMs: () => 0 } });
    for (const key of ['a', 'b', 'a', 'c']) limiter.take(key);
    expect([limiter.wait('a'), limiter.wait('b'), limiter.wait('c')]).toEqual([1000, 0, 1000]);
  });
});
