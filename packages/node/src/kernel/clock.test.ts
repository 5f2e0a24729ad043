import { describe, expect, it } from 'vitest';
import { systemClock, toInstant } from './clock.ts';

describe('the system clock', () => {
  it('sleeps at least as long as asked', async () => {
    const before = systemClock.monotonicMs();
    await systemClock.sleep(15);
    expect(systemClock.monotonicMs() - before).toBeGreaterThanOrEqual(13);
  });

  it('stops sleeping with the reason of the signal', async () => {
    const abort = new AbortController();
    const sleeping = systemClock.sleep(60_000, abort.signal);
    abort.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
  });

  it('does not begin to sleep under a signal that is already aborted', async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });

  it('writes instants in UTC with milliseconds', () => {
    expect(toInstant(1)).toBe('1970-01-01T00:00:00.001Z');
  });
});
