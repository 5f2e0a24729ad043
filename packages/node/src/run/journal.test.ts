import { describe, expect, it } from 'vitest';
import type { Tx } from '../store/store.ts';
import { createJournal } from './journal.ts';

/** A store that notes what reaches the disk; a transaction that throws leaves nothing of itself. */
const notingStore = () => {
  const disk: string[][] = [];
  let writing: string[] = [];
  let full = false;
  return {
    disk,
    fill: (is: boolean): void => void (full = is),
    write: (what: string) => async (): Promise<void> => void writing.push(what),
    transaction: async <T>(job: (tx: Tx) => Promise<T>): Promise<T> => {
      writing = [];
      const value = await job({} as Tx);
      if (full) throw new Error('no space');
      disk.push(writing);
      return value;
    },
  };
};

describe('the journal of an attempt', () => {
  it('commits what was put off together with the next transaction, in order, once', async () => {
    const store = notingStore();
    const journal = createJournal(store);
    journal.later(store.write('stage ended'));
    journal.later(store.write('stage began'));
    expect(store.disk).toEqual([]);
    await journal.transaction(store.write('run recorded'));
    await journal.transaction(store.write('identity'));
    expect(store.disk).toEqual([['stage ended', 'stage began', 'run recorded'], ['identity']]);
  });

  it('does what waits for durability after that commit, before the caller goes on', async () => {
    const store = notingStore();
    const journal = createJournal(store);
    const seen: unknown[] = [];
    journal.later(store.write('end'));
    journal.onceDurable(async () => {
      await Promise.resolve();
      seen.push([...store.disk]);
    });
    await journal.transaction(store.write('next'));
    expect(seen).toEqual([[['end', 'next']]]);
  });

  it('keeps what was put off when the commit fails: it goes with the next one', async () => {
    const store = notingStore();
    const journal = createJournal(store);
    let acted = 0;
    journal.later(store.write('end'));
    journal.onceDurable(() => void acted++);
    store.fill(true);
    await expect(journal.transaction(store.write('next'))).rejects.toThrow('no space');
    expect([store.disk, acted]).toEqual([[], 0]);
    store.fill(false);
    await journal.transaction(store.write('verdict'));
    expect([store.disk, acted]).toEqual([[['end', 'verdict']], 1]);
  });
});
