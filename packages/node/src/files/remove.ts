// Glossary. The one deletion path of the node. An owned directory is one the node made and recorded with its device and
// inode; nothing else is ever deleted. The trash is a folder of the node on the same disk: what is removed is renamed
// into it first, so that it is gone at once, and deleted there in the background.
import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { mkdir, readFile, realpath, rename } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { REMOVE_BATCH } from '../kernel/limits.ts';
import { randomHex, systemRandom } from '../kernel/random.ts';
import { isErrno, lookAt } from './tree-walk.ts';

/** A directory the node made, as it was recorded then. */
export type OwnedDirectory = { readonly path: string; readonly device: number; readonly inode: number };

/** `removed`: gone now; `absent`: it was gone before. */
export type RemoveOutcome = 'removed' | 'absent';

/** The deletion path, as what collaborators take. */
export type Remover = {
  /**
   * Takes an owned directory away. Resolves after looking: the path is gone (its contents are deleted in the background).
   * Rejects with `path_refused` for anything that is not exactly the recorded directory inside the node's root, that is,
   * holds, lies in or links to a protected path, or that something is mounted in.
   */
  remove(directory: OwnedDirectory): Promise<RemoveOutcome>;
  /** Deletes what an earlier start left in the trash; resolves when the trash is empty. */
  sweep(): Promise<void>;
  /** Resolves when every deletion in the background has ended, or was stopped. */
  settled(): Promise<void>;
};

/** What the deletion path needs: its root (absolute), and what must never be touched (asked at each removal). */
export type RemoverOptions = {
  readonly root: string;
  readonly trash: string;
  readonly protectedPaths: () => Promise<readonly string[]>;
  /** Told of each deletion in the background that failed; the next sweep tries again. */
  readonly onFailure: (thrown: unknown) => void;
  readonly mounts?: () => Promise<readonly string[]>;
  /** Once it is aborted nothing more is deleted in the background: what is left waits in the trash for the next start's sweep. */
  readonly stopping?: AbortSignal;
};

/** Makes the deletion path of one node. */
export const createRemover = (options: RemoverOptions): Remover => {
  const { root, trash, protectedPaths, onFailure, mounts = readMounts, stopping } = options;
  let background: Promise<void> = Promise.resolve();
  const deleteLater = (path: string): void => {
    background = background
      .then(() => deleteTree(path, stopping))
      .catch((thrown: unknown) => (stopping?.aborted === true ? undefined : onFailure(thrown)));
  };
  return {
    remove: async (directory) => {
      const found = lookAt(directory.path);
      if (found === null) return 'absent';
      if (!found.isDirectory() || found.dev !== directory.device || found.ino !== directory.inode) {
        throw refused(directory.path, 'it is not the directory that was recorded there');
      }
      const resolved = await realpath(directory.path);
      const realRoot = await realpath(root);
      if (!isInside(resolved, realRoot)) throw refused(directory.path, 'it lies outside the data directory');
      await refuseProtected(resolved, directory.path, await protectedPaths());
      const mounted = (await mounts()).find((mount) => mount === resolved || isInside(mount, resolved));
      if (mounted !== undefined) throw refused(directory.path, 'something is mounted in it');
      await mkdir(trash, { recursive: true, mode: 0o700 });
      const aside = join(trash, `${basename(resolved)}-${randomHex(systemRandom, 8)}`);
      await rename(resolved, aside);
      const moved = lookAt(aside);
      if (moved === null || moved.ino !== directory.inode || lookAt(directory.path) !== null)
        throw refused(directory.path, 'it was replaced while it was taken away');
      deleteLater(aside);
      return 'removed';
    },
    sweep: async () => {
      for (const name of lookAt(trash) === null ? [] : readdirSync(trash)) deleteLater(join(trash, name));
      await background;
    },
    settled: () => background,
  };
};

/** Whether `path` lies below `folder`; both resolved. */
export const isInside = (path: string, folder: string): boolean => path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const refused = (path: string, why: string): OrreryError =>
  new OrreryError('path_refused', `${path} was not removed: ${why}.`, {
    rule: 'Only directories that the node made and recorded are ever removed.',
    fix: 'Look at it and remove it by hand if it is not needed.',
    details: { path },
  });

const refuseProtected = async (resolved: string, shown: string, protectedPaths: readonly string[]): Promise<void> => {
  for (const path of protectedPaths) {
    const kept = await realpath(path).catch(() => path);
    if (kept === resolved || isInside(kept, resolved) || isInside(resolved, kept))
      throw refused(shown, `it is, holds or lies in ${kept}, which is the user's own`);
  }
};

/** Mount points of this process; empty where the system does not list them (then device numbers alone decide). */
const readMounts = async (): Promise<string[]> => {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path !== '')
    .map((path) => path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))));
};

/**
 * Takes away, at once, an owned directory that has no trash beside it: what the node staged in somebody else's folder.
 * Rejects with `path_refused` unless it is exactly the recorded directory and nothing is mounted in it.
 */
export const removeStaged = async (directory: OwnedDirectory): Promise<RemoveOutcome> => {
  const { path, device, inode } = directory;
  const found = lookAt(path);
  if (found === null) return 'absent';
  if (!found.isDirectory() || found.dev !== device || found.ino !== inode)
    throw refused(path, 'it is not the directory that was recorded there');
  const resolved = await realpath(path);
  if ((await readMounts()).some((mount) => mount === resolved || isInside(mount, resolved)))
    throw refused(path, 'something is mounted in it');
  await deleteTree(path);
  return 'removed';
};

/** Takes away a folder that holds nothing. Anything else stays, and answers false. */
export const removeEmptyFolder = (path: string | Buffer): boolean => {
  try {
    rmdirSync(path);
    return true;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EACCES', 'EPERM')) return false;
    throw thrown;
  }
};

/** Deletes a tree of the trash: links are unlinked and never followed, another device is never entered. */
const deleteTree = async (path: string, stopping?: AbortSignal): Promise<void> => {
  stopping?.throwIfAborted();
  const top = lookAt(path);
  if (top === null) return;
  await deleteEntry(Buffer.from(path), { device: top.dev, top: path, stopping, left: REMOVE_BATCH });
};

/** `top`: the tree's own path, below the trash; `left`: entries until others get a turn. */
type Deletion = { readonly device: number; readonly top: string; readonly stopping: AbortSignal | undefined; left: number };

/** A folder with a longer path is brought up first: folders in folders can be deeper than any path the system takes. */
const DELETE_PATH_BYTES = 2048;

const deleteEntry = async (path: Buffer, deletion: Deletion): Promise<void> => {
  const found = lookAt(path);
  if (found === null) return;
  if (!found.isDirectory()) {
    unlinkSync(path);
  } else {
    if (found.dev !== deletion.device) throw refused(path.toString(), 'it is another file system');
    const at = path.length > DELETE_PATH_BYTES ? bringUp(path, deletion) : path;
    for (const name of openFolder(at)) await deleteEntry(Buffer.concat([at, Buffer.from('/'), name]), deletion);
    rmdirSync(at);
  }
  if (--deletion.left > 0) return;
  deletion.left = REMOVE_BATCH;
  await setImmediate();
  deletion.stopping?.throwIfAborted();
};

/** Renames a folder to a short path beside the top of its tree: still in the trash, so that a later sweep finds it. */
const bringUp = (path: Buffer, { top }: Deletion): Buffer => {
  const short = Buffer.from(`${top}-${randomHex(systemRandom, 8)}`);
  renameSync(path, short);
  return short;
};

const openFolder = (path: Buffer): Buffer[] => {
  try {
    // Also needed when it can be read: its entries cannot be unlinked without write permission.
    chmodSync(path, 0o700);
  } catch (thrown) {
    if (!isErrno(thrown, 'EPERM')) throw thrown;
  }
  return readdirSync(path, { encoding: 'buffer' });
};
