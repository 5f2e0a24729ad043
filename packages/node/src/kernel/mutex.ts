/** Serialises work by key: what has the same key runs one after the other, in the order of the calls. */
export type Mutex = {
  /** Runs `work` when all earlier work of `key` has ended; a failure of one does not touch the next. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Keys that have work waiting or running. */
  readonly busy: number;
};

/** Makes an empty mutex. Not re-entrant: work that runs its own key again waits for itself for ever. */
export const createMutex = (): Mutex => {
  const tails = new Map<string, Promise<void>>();
  const run = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = tails.get(key);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    tails.set(key, ended);
    try {
      await before;
      return await work();
    } finally {
      if (tails.get(key) === ended) tails.delete(key);
      end();
    }
  };
  return {
    run,
    get busy() {
      return tails.size;
    },
  };
};
