// Three states of one folder: the master, which only the node writes; the base, what the master was when a copy of it was
// given away; and the copy, which somebody else wrote in. Only plain files are known: links, devices and pipes of a copy
// are never opened and never merged.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rmdir, unlink } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { writeDurably } from '../kernel/durable-file.ts';
import { MEMORY_BYTES, MEMORY_ENTRIES, MEMORY_FILE_BYTES } from '../kernel/limits.ts';
import { absoluteBytes, isErrno, lookAt, showBytes, walkTree, type BytePath } from './tree-walk.ts';

/** Plain files of a folder with the SHA-256 of what they hold; paths are one character per byte. */
export type TreeState = Readonly<Record<BytePath, string>>;

/** What became of a copy. */
export type Merged = { readonly changed: number; readonly deleted: number; readonly notes: readonly string[] };

type Read = {
  readonly files: ReadonlyMap<BytePath, Uint8Array>;
  readonly unread: ReadonlySet<BytePath>;
  readonly notes: readonly string[];
};

/** What a folder holds, as it is to be remembered. */
export const treeState = async (root: string): Promise<TreeState> => {
  const { files } = await readTree(root);
  return Object.fromEntries([...files].map(([path, content]) => [path, hashOf(content)]));
};

/**
 * Brings what was done in a copy into the master, deletions too. Where the master changed meanwhile, its version stays and
 * the copy's lies beside it as `<name>.<mark>`; a deletion of what changed meanwhile is left out. Files beyond the limits,
 * and what is no plain file, are left out and noted. Nobody writes in either meanwhile. Repeatable: a merge that was cut
 * off is finished by another.
 */
export const mergeTree = async (given: {
  readonly master: string;
  readonly base: TreeState;
  readonly copy: string;
  readonly mark: string;
}): Promise<Merged> => {
  const { master, base, copy, mark } = given;
  const [mine, theirs] = [await readTree(copy), await readTree(master)];
  const notes = [...mine.notes];
  let changed = 0;
  let deleted = 0;
  for (const [path, content] of mine.files) {
    const hash = hashOf(content);
    const there = theirs.files.get(path);
    const now = there === undefined ? undefined : hashOf(there);
    if (hash === base[path] || hash === now) continue;
    const target = now === base[path] ? path : `${path}.${mark}`;
    if (target !== path) notes.push(`${showBytes(path)} was changed by another meanwhile; this version is ${showBytes(target)}`);
    changed += (await put(master, { path: target, content }, { mark, notes })) ? 1 : 0;
  }
  for (const [path, hash] of Object.entries(base)) {
    // What could not be read is not gone.
    if (mine.files.has(path) || mine.unread.has(path)) continue;
    const there = theirs.files.get(path);
    if (there === undefined) continue;
    if (hashOf(there) === hash) deleted += await take(master, path);
    else notes.push(`${showBytes(path)} was deleted, and changed by another meanwhile: it stays`);
  }
  return { changed, deleted, notes };
};

const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Writes a file of the master; where a folder of its path is a file there, a note says that it was left out. */
const put = async (
  master: string,
  { path, content }: { readonly path: BytePath; readonly content: Uint8Array },
  { mark, notes }: { readonly mark: string; readonly notes: string[] },
): Promise<boolean> => {
  const at = lookAt(absoluteBytes(master, path))?.isDirectory() === true ? `${path}.${mark}` : path;
  const parts = at.split('/').slice(0, -1);
  // A folder that is a file in the master gets another name, so that both are kept.
  const folder = parts.reduce((above, name) => {
    const here = above === '' ? name : `${above}/${name}`;
    const found = lookAt(absoluteBytes(master, here));
    return found === null || found.isDirectory() ? here : `${here}.${mark}`;
  }, '');
  const target = folder === '' ? at : `${folder}/${at.slice(at.lastIndexOf('/') + 1)}`;
  try {
    if (folder !== '') await mkdir(absoluteBytes(master, folder), { recursive: true, mode: 0o700 });
    await writeDurably(Buffer.from(absoluteBytes(master, target)).toString('utf8'), content);
    return true;
  } catch (thrown) {
    if (!isErrno(thrown, 'ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EILSEQ')) throw thrown;
    notes.push(`${showBytes(path)} was left out: it has no place in the memory`);
    return false;
  }
};

/** Deletes a file of the master, and the folders that are empty then. */
const take = async (master: string, path: BytePath): Promise<number> => {
  await unlink(absoluteBytes(master, path));
  const parts = path.split('/');
  for (let depth = parts.length - 1; depth > 0; depth--) {
    const left = await rmdir(absoluteBytes(master, parts.slice(0, depth).join('/'))).catch((thrown: unknown) => {
      if (isErrno(thrown, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) return 'left';
      throw thrown;
    });
    if (left === 'left') break;
  }
  return 1;
};

/** Every plain file within the limits. What is left out is noted; its path counts as unread. */
const readTree = async (root: string): Promise<Read> => {
  const files = new Map<BytePath, Uint8Array>();
  const unread = new Set<BytePath>();
  const notes: string[] = [];
  const leave = (path: BytePath, why: string): void => {
    unread.add(path);
    notes.push(`${showBytes(path)} was left out: ${why}`);
  };
  if (lookAt(root) === null) return { files, unread, notes };
  let bytes = 0;
  for (const { path, type } of await walkTree(root, { limit: MEMORY_ENTRIES * 2 }).catch(tooMany)) {
    if (type === 'folder') continue;
    if (type !== 'file') leave(path, 'it is no plain file');
    else if (files.size >= MEMORY_ENTRIES) leave(path, `a memory has at most ${MEMORY_ENTRIES} files`);
    else if (!isText(path)) leave(path, 'its name is no text');
    else {
      const content = await readPlain(absoluteBytes(root, path), MEMORY_BYTES - bytes);
      if (content === null) leave(path, `a file has at most ${MEMORY_FILE_BYTES} bytes, a memory ${MEMORY_BYTES}`);
      else {
        bytes += content.length;
        files.set(path, content);
      }
    }
  }
  return { files, unread, notes };
};

const tooMany = (thrown: unknown): never => {
  throw thrown instanceof OrreryError && thrown.code === 'input_too_large'
    ? new OrreryError('input_too_large', 'What was left in the memory is too much to be looked through.', {
        rule: `A memory has at most ${MEMORY_ENTRIES} files.`,
      })
    : thrown;
};

const isText = (path: BytePath): boolean =>
  !/[\u0080-\u00ff]/.test(path) ||
  (Buffer.from(path, 'latin1').toString('utf8').isWellFormed() &&
    !Buffer.from(path, 'latin1').toString('utf8').includes('\ufffd'));

/** A plain file, or null when it is larger than what is left. Never waits for a pipe and never follows a link. */
const readPlain = async (path: Buffer, left: number): Promise<Uint8Array | null> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > Math.min(MEMORY_FILE_BYTES, left)) return null;
    return await file.readFile();
  } finally {
    await file.close();
  }
};
