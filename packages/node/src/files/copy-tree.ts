import { chmodSync, constants, lutimesSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { REMOVE_BATCH } from '../kernel/limits.ts';
import { own } from './own.ts';
import { absoluteBytes, lookAt, showBytes, walkTree, type TreeEntry } from './tree-walk.ts';

/** What could not be copied, in words. */
export type CopyNotes = { readonly notes: readonly string[] };

/**
 * Makes the folder `to` hold exactly what `from` holds: contents, modes, times and links (which are never followed).
 * Nobody else may write in either meanwhile; `path_refused` when either is no folder itself. Special files and other file systems are left out and noted. Nothing of it
 * is shared with the source afterwards. Repeatable: one that was cut off is finished by another.
 */
export const copyTree = async (from: string, to: string): Promise<CopyNotes> => {
  // A link in the place of either would lead elsewhere.
  for (const root of [from, to]) own(root);
  const source = await walkTree(from);
  const wanted = new Map(source.map(({ path, type }) => [path, type]));
  await clearOthers(to, wanted);
  const notes: string[] = [];
  for (const entry of source) {
    const note = await copyEntry(from, to, entry);
    if (note !== null) notes.push(note);
  }
  // Last, and the deepest first: writing in a folder changes its time, and its mode may forbid it.
  for (const { path, type } of source.toReversed()) if (type === 'folder') copyLooks(from, to, path);
  return { notes };
};

/** Takes away what the source does not have, or has as something else. */
const clearOthers = async (to: string, wanted: ReadonlyMap<string, TreeEntry['type']>): Promise<void> => {
  const there = await walkTree(to);
  let left = REMOVE_BATCH;
  for (const { path, type } of there.toReversed()) {
    if (wanted.get(path) === type) continue;
    const at = absoluteBytes(to, path);
    if (type === 'folder') rmdirSync(at);
    else unlinkSync(at);
    if (--left > 0) continue;
    left = REMOVE_BATCH;
    await setImmediate();
  }
};

const copyEntry = async (from: string, to: string, { path, type }: TreeEntry): Promise<string | null> => {
  const source = absoluteBytes(from, path);
  const target = absoluteBytes(to, path);
  switch (type) {
    case 'folder':
      if (lookAt(target) === null) mkdirSync(target, { mode: 0o700 });
      return null;
    case 'file':
      // A file that may not be written can still be replaced: it is the node's own.
      if (lookAt(target) !== null) unlinkSync(target);
      await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      copyLooks(from, to, path);
      return null;
    case 'link':
      if (lookAt(target) !== null) unlinkSync(target);
      symlinkSync(readlinkSync(source, { encoding: 'buffer' }), target);
      return null;
    default:
      return `${showBytes(path)} was not copied: it is no file, folder or link`;
  }
};

/** Mode and times. Bits that change the user of a program are not taken along. */
const copyLooks = (from: string, to: string, path: string): void => {
  const found = lookAt(absoluteBytes(from, path));
  const target = absoluteBytes(to, path);
  if (found === null) return;
  chmodSync(target, found.mode & 0o777);
  lutimesSync(target, found.atimeMs / 1000, found.mtimeMs / 1000);
};
