// The record of one environment while it is open: each change is on disk before it counts.
import type { PlaceDirectory, PlaceRecord } from './record.ts';

/** The record, and the one way to change it. */
export type Ledger = {
  readonly record: PlaceRecord;
  readonly directory: PlaceDirectory;
  /** Writes a change, one after the other; one that changes nothing is not written. */
  change(patch: Partial<PlaceRecord>): Promise<void>;
};

/** The ledger of a record that is on disk. */
export const createLedger = (directory: PlaceDirectory, first: PlaceRecord): Ledger => {
  let record = first;
  let writing: Promise<void> = Promise.resolve();
  const write = async (patch: Partial<PlaceRecord>): Promise<void> => {
    const next = { ...record, ...patch };
    if (JSON.stringify(next) === JSON.stringify(record)) return;
    await directory.write(next);
    record = next;
  };
  return {
    get record() {
      return record;
    },
    directory,
    change: (patch) => {
      const done = writing.then(() => write(patch));
      writing = done.catch(() => undefined);
      return done;
    },
  };
};
