import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { CHECKOUT_ENTRIES } from '../kernel/limits.ts';

/** A path below some root, one character per byte (latin1): file names are bytes, not text. */
export type BytePath = string;

/**
 * `special`: FIFO, socket, device; `mount`: the root of another file system; `deep`: a folder whose contents have longer
 * paths than the system takes. None of them is ever opened or entered.
 */
export type TreeEntryType = 'file' | 'link' | 'folder' | 'special' | 'mount' | 'deep';

/** Longest path, in bytes, of a folder that is entered: with a name of 255 bytes it is still one that the system takes (4096 with its end). */
const FOLDER_PATH_BYTES = 4095 - 256;

/** One entry of a tree. */
export type TreeEntry = { readonly path: BytePath; readonly type: TreeEntryType };

/** The absolute path of a byte path, as what system calls take. */
export const absoluteBytes = (root: string, path: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);

/** A byte path as text for people; what is no UTF-8 shows as U+FFFD. */
export const showBytes = (path: BytePath): string => Buffer.from(path, 'latin1').toString('utf8');

/** What `lstat` says, or null when nothing is there: also below what is no folder. */
export const lookAt = (path: string | Buffer): Stats | null => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOTDIR')) return null;
    throw thrown;
  }
};

/**
 * Every entry below `root`, folders before what is in them. Never follows a link, never opens a file, never enters a
 * mount or what is too deep; a folder that forbids reading is opened up first (it is the node's own). `skip` leaves a folder and all below it
 * out. Rejects with `input_too_large` beyond the limit of entries, and soon after `signal` is aborted.
 */
export const walkTree = async (
  root: string,
  {
    skip = () => false,
    limit = CHECKOUT_ENTRIES,
    signal,
  }: { skip?: (path: BytePath) => boolean; limit?: number; signal?: AbortSignal } = {},
): Promise<TreeEntry[]> => {
  const device = lstatSync(root).dev;
  const found: TreeEntry[] = [];
  const folders: BytePath[] = [''];
  let sinceYield = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readFolder(root, folder)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (skip(path)) continue;
      const type = entry.type === 'folder' ? folderType(absoluteBytes(root, path), device) : entry.type;
      found.push({ path, type });
      if (type === 'folder') folders.push(path);
    }
    if (found.length > limit)
      throw new OrreryError('input_too_large', `A checkout holds more than ${limit} files.`, {
        rule: 'A bounded tree is read whole or not at all.',
      });
    if (found.length - sinceYield < 1000) continue;
    sinceYield = found.length;
    await setImmediate();
    signal?.throwIfAborted();
  }
  return found;
};

const folderType = (at: Buffer, device: number): 'folder' | 'mount' | 'deep' =>
  lookAt(at)?.dev !== device ? 'mount' : at.length > FOLDER_PATH_BYTES ? 'deep' : 'folder';

type NamedType = { readonly name: BytePath; readonly type: Exclude<TreeEntryType, 'mount' | 'deep'> };

const readFolder = (root: string, folder: BytePath): NamedType[] => {
  const at = folder === '' ? Buffer.from(root) : absoluteBytes(root, folder);
  return list(at).map((entry) => ({
    name: entry.name.toString('latin1'),
    type: entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : 'special',
  }));
};

const list = (at: Buffer) => {
  try {
    return readdirSync(at, { withFileTypes: true, encoding: 'buffer' });
  } catch (thrown) {
    if (!isErrno(thrown, 'EACCES')) throw thrown;
    chmodSync(at, 0o700);
    return readdirSync(at, { withFileTypes: true, encoding: 'buffer' });
  }
};

/** Whether something thrown is the system error of that name. */
export const isErrno = (thrown: unknown, ...codes: string[]): boolean =>
  typeof thrown === 'object' &&
  thrown !== null &&
  'code' in thrown &&
  typeof thrown.code === 'string' &&
  codes.includes(thrown.code);
