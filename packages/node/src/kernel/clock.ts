/** Time, as an argument: tests and the simulator own it. */
export type Clock = {
  /** Milliseconds since 1970, for instants that are shown or stored. May jump when the machine's clock is set. */
  nowMs(): number;
  /** Milliseconds since some start, never going backwards: for durations and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** An instant as the wire says it: RFC 3339 in UTC with milliseconds. */
export const toInstant = (ms: number): string => new Date(ms).toISOString();
