import { systemClock, type Clock } from '../src/kernel/clock.ts';

/** A clock that a test moves, and whoever waits. */
export const createTalkingClock = (): { readonly clock: Clock; pass(ms: number): void } => {
  let aheadMs = 0;
  return {
    pass: (ms) => void (aheadMs += ms),
    clock: {
      ...systemClock,
      nowMs: () => Date.now() + aheadMs,
      // Whoever waits lets time pass; whoever waits for something else at the same time gives it some real time first.
      sleep: async (ms, signal) => {
        for (let looks = 0; signal !== undefined && looks < 200; looks++) {
          if (signal.aborted) throw signal.reason;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        aheadMs += ms;
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
  };
};
