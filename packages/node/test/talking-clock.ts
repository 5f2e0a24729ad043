import { systemClock, type Clock } from '../src/kernel/clock.ts';

/** A clock that a test moves, and whoever waits. */
export const createTalkingClock = (): { readonly clock: Clock; pass(ms: number): void } => {
  let aheadMs = 0;
  return {
    pass: (ms) => void (aheadMs += ms),
    clock: {
      ...systemClock,
      nowMs: () => Date.now() + aheadMs,
      // Whoever waits lets time pass.
      sleep: async (ms) => {
        aheadMs += ms;
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
  };
};
