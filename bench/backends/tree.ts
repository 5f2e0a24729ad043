import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const FILES = 2_000;
const FILE_BYTES = 10_240;
export const TREE_BYTES = FILES * FILE_BYTES;
export const CHANGED = 100;

/** The program that is run: every place has a shell, and not every one a file `true`. A host's shell is given the last word alone. */
export const NOTHING = ['sh', '-c', 'true'] as const;

/** Writes the files below `root`, in folders of a hundred. What is in them cannot be made smaller by who carries them. */
export const makeTree = (root: string): void => {
  for (let at = 0; at < FILES; at++) {
    const folder = join(root, `d${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${at}`), randomBytes(FILE_BYTES));
  }
};

/** The same files at another place. */
export const copyTree = (from: string, to: string): void => cpSync(from, to, { recursive: true });

/** A script that changes a hundred files of twenty folders in the folder where it runs; `word` makes it another change each time. Sizes stay. */
export const changeScript = (word: string): string =>
  `for d in d?*; do n=\${d#d}; for i in 0 1 2 3 4; do yes ${word} | head -c ${FILE_BYTES} > "$d/f$((n * 100 + i))"; done; done`;
