import type { Clock } from './clock.ts';

/** Counts by key: each key has a bucket that fills with time and empties with each call. */
export type RateLimiter = {
  /** Takes one; answers 0, or the milliseconds to wait when the key has used up its share (nothing is taken then). */
  take(key: string): number;
  /** The milliseconds to wait before the key may take one, without taking it. */
  wait(key: string): number;
};

/**
 * A token bucket for each key: `burst` at once, then `perSecond`. At most `keys` are remembered; the longest unused are
 * forgotten first, which only ever gives a caller a full bucket again.
 */
export const createRateLimiter = ({
  burst,
  perSecond,
  keys,
  clock,
}: {
  burst: number;
  perSecond: number;
  keys: number;
  clock: Pick<Clock, 'monotonicMs'>;
}): RateLimiter => {
  const buckets = new Map<string, { left: number; atMs: number }>();
  const filled = (key: string): number => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.left + ((clock.monotonicMs() - bucket.atMs) / 1000) * perSecond);
  };
  const waitFor = (left: number): number => (left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1000));
  return {
    wait: (key) => waitFor(filled(key)),
    take: (key) => {
      const left = filled(key);
      const wait = waitFor(left);
      // Set anew, so that the map's order is the order of use.
      buckets.delete(key);
      buckets.set(key, { left: wait === 0 ? left - 1 : left, atMs: clock.monotonicMs() });
      const oldest = buckets.size > keys ? buckets.keys().next().value : undefined;
      if (oldest !== undefined) buckets.delete(oldest);
      return wait;
    },
  };
};
