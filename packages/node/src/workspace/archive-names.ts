// What is in an archive, read from its headers alone: contents are passed over.

import { open } from 'node:fs/promises';

const BLOCK = 512;
/** Records beside a member: longer ones are no path. */
const EXTRA_BYTES = 64 * 1024;

/** What an archive holds: how many members, and the paths of the first of them. */
export type ArchiveNames = { readonly count: number; readonly paths: readonly string[] };

const textOf = (block: Buffer, from: number, length: number): string => {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
};

/** A number in octal digits, or in base 256 where it is larger than those can say. */
const numberOf = (block: Buffer, from: number, length: number): number => {
  const field = block.subarray(from, from + length);
  if (((field[0] ?? 0) & 0x80) === 0) return Number.parseInt(textOf(block, from, length).trim() || '0', 8);
  return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
};

const paxPath = (records: Buffer): string | null => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(records.toString('utf8'))?.[1] ?? null;

/** Reads the names in a file that is a tar archive; one that is cut short holds what can be read of it. */
export const archiveNames = async (file: string, most: number): Promise<ArchiveNames> => {
  const handle = await open(file, 'r');
  try {
    const paths: string[] = [];
    let count = 0;
    let named: string | null = null;
    const block = Buffer.alloc(BLOCK);
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(block, 0, BLOCK, at);
      if (bytesRead < BLOCK || block.every((byte) => byte === 0)) return { count, paths };
      const size = numberOf(block, 124, 12);
      if (!Number.isSafeInteger(size) || size < 0) return { count, paths };
      const type = String.fromCharCode(block[156] ?? 0);
      at += BLOCK;
      if (type === 'L' || type === 'x') {
        const extra = Buffer.alloc(Math.min(size, EXTRA_BYTES));
        await handle.read(extra, 0, extra.length, at);
        named = (type === 'L' ? textOf(extra, 0, extra.length) : paxPath(extra)) ?? named;
      } else if (type !== 'g' && type !== 'K' && type !== 'V') {
        const prefix = textOf(block, 345, 155);
        const path = named ?? (prefix === '' ? textOf(block, 0, 100) : `${prefix}/${textOf(block, 0, 100)}`);
        named = null;
        if (type !== '5') {
          count += 1;
          if (paths.length < most) paths.push(path.replace(/^\.\//, ''));
        }
      }
      at += Math.ceil(size / BLOCK) * BLOCK;
    }
  } finally {
    await handle.close();
  }
};
