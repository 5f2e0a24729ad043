// What is remembered of a terminal whose output is given up: its size, and how it looked at an offset. A file beside the
// environment's tokens; it goes with the environment.

import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { isErrno } from '../files/tree-walk.ts';
import { writeDurably } from '../kernel/durable-file.ts';

const remembered = z.object({
  columns: z.int(),
  rows: z.int(),
  /** Output below it may be gone. */
  released: z.int(),
  /** How it looked at an offset, which is never below `released`; null: nothing was given up yet, or nobody could draw it. */
  screen: z.object({ offset: z.int(), columns: z.int(), rows: z.int(), text: z.string() }).nullable(),
});
export type Remembered = z.output<typeof remembered>;

export type ScreenFile = {
  /** Null: nothing was remembered. */
  read(): Promise<Remembered | null>;
  /** Resolves when it is on the disk. */
  write(what: Remembered): Promise<void>;
};

/** Makes a folder in one that is there; false: that one is gone. */
const made = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (thrown) {
    if (isErrno(thrown, 'EEXIST')) return true;
    if (isErrno(thrown, 'ENOENT')) return false;
    throw thrown;
  }
};

/** The file at a path. Writes follow each other. */
export const screenFile = (path: string): ScreenFile => {
  let turn: Promise<void> = Promise.resolve();
  return {
    read: async () => {
      const text = await readFile(path, 'utf8').catch(() => null);
      return text === null ? null : (remembered.safeParse(JSON.parse(text)).data ?? null);
    },
    write: (what) => {
      const next = turn.then(async () => {
        // An environment that is gone is not made again by what is remembered of it.
        if (await made(dirname(path))) await writeDurably(path, JSON.stringify(what));
      });
      turn = next.catch(() => undefined);
      return next;
    },
  };
};
