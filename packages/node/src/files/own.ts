import { mkdir, mkdtemp } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { OwnedDirectory } from './remove.ts';
import { lookAt } from './tree-walk.ts';
import { OrreryError } from '@orrery/protocol/errors';

/** Makes a directory (0700) and answers it as it is to be recorded. Rejects when something is there already. */
export const makeOwned = async (path: string): Promise<OwnedDirectory> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await mkdir(path, { mode: 0o700 });
  return own(path);
};

/** What a directory is recorded as. Rejects with `path_refused` when no directory (or a link) is there. */
export const own = (path: string): OwnedDirectory => {
  const found = lookAt(path);
  if (found === null || !found.isDirectory()) throw new OrreryError('path_refused', `${path} is not a directory.`);
  return { path, device: found.dev, inode: found.ino };
};

/** Makes a directory with a fresh name below `folder`. */
export const makeTemporary = async (folder: string, prefix: string): Promise<OwnedDirectory> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return own(await mkdtemp(`${folder}/${prefix}`));
};
