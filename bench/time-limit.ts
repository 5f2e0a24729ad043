/** A stretch of time after which a benchmark stops by itself. */
export type TimeLimit = {
  /** Milliseconds left, 0 when it is over. */
  left(): number;
  /** So much of what is left at most. */
  within(ms: number): TimeLimit;
  /** The work's value. Rejects when the time is over first; the work itself is not stopped. */
  hold<T>(what: string, work: Promise<T>): Promise<T>;
};

const until = (endMs: number): TimeLimit => {
  const left = (): number => Math.max(0, endMs - performance.now());
  return {
    left,
    within: (ms) => until(Math.min(endMs, performance.now() + ms)),
    hold: async (what, work) => {
      const { promise: over, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new Error(`${what} did not end in its time`)), left());
      try {
        return await Promise.race([work, over]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
};

/** A limit of `ms` from now. */
export const timeLimit = (ms: number): TimeLimit => until(performance.now() + ms);
