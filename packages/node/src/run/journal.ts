import type { Store, Tx } from '../store/store.ts';

/**
 * What one attempt writes. Each durable commit is a wait for the disk, so a write that need only be there before the next
 * one is put off and goes with that. A crash before then takes all of it: the attempt goes on from before it, as from any
 * other crash between two commits.
 */
export type Journal = {
  /** Puts a write off until the next transaction. */
  later(write: (tx: Tx) => Promise<void>): void;
  /** Puts off what may happen only when everything written so far is durable. */
  onceDurable(act: () => Promise<void> | void): void;
  /**
   * Runs what was put off, in order, and then `job`, in one durable transaction; then does what waited for that. When it
   * rejects for the store, nothing of it happened and it is still put off.
   */
  transaction<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
};

/** The journal of one attempt under one conductor; its transactions are run one after the other. */
export const createJournal = (store: Pick<Store, 'transaction'>): Journal => {
  let writes: readonly ((tx: Tx) => Promise<void>)[] = [];
  let acts: readonly (() => Promise<void> | void)[] = [];
  return {
    later: (write) => {
      writes = [...writes, write];
    },
    onceDurable: (act) => {
      acts = [...acts, act];
    },
    transaction: async (job) => {
      const value = await store.transaction(async (tx) => {
        for (const write of writes) await write(tx);
        return job(tx);
      });
      const due = acts;
      writes = [];
      acts = [];
      for (const act of due) await act();
      return value;
    },
  };
};
