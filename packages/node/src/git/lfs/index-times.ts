import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { writeWhole } from '../../kernel/durable-file.ts';

const ENTRY = 62;
const EXTENDED = 0x4000;

/**
 * Gives entries of a Git index the times and sizes of the files that are there, as Git itself does where a filter makes a file
 * another one than its blob: until a program touches the file, Git takes it for unchanged. Paths are latin1. Throws when the
 * index is not one that Git writes by its own choice (version 2 or 3).
 */
export const indexWithTimes = (index: Buffer, files: ReadonlyMap<string, BigIntStats>): Buffer => {
  const version = index.readUInt32BE(4);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3))
    throw new Error(`a Git index of version ${version} cannot be given times`);
  const made = Buffer.from(index);
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const from = at + ENTRY + ((index.readUInt16BE(at + 60) & EXTENDED) === 0 ? 0 : 2);
    const end = index.indexOf(0, from);
    const found = files.get(index.toString('latin1', from, end));
    if (found !== undefined) writeTimes(made, at, found);
    // Entries end with one to eight zeros, so that each begins at a multiple of eight.
    at += (end - at + 8) & ~7;
  }
  createHash('sha1')
    .update(made.subarray(0, -20))
    .digest()
    .copy(made, made.length - 20);
  return made;
};

const writeTimes = (index: Buffer, at: number, { ctimeNs, mtimeNs, dev, ino, uid, gid, size }: BigIntStats): void => {
  const second = 1_000_000_000n;
  const words = [ctimeNs / second, ctimeNs % second, mtimeNs / second, mtimeNs % second, dev, ino];
  for (const [place, word] of words.entries()) index.writeUInt32BE(lowWord(word), at + place * 4);
  for (const [place, word] of [uid, gid, size].entries()) index.writeUInt32BE(lowWord(word), at + 28 + place * 4);
};

const lowWord = (value: bigint): number => Number(BigInt.asUintN(32, value));

/** The same for a file on the disk; whole or not at all. */
export const writeIndexTimes = async (path: string, files: ReadonlyMap<string, BigIntStats>): Promise<void> =>
  writeWhole(path, indexWithTimes(await readFile(path), files));
