// Folders in the place of closed paths that are not there yet: what is not there cannot be mounted, and could be made.
import { lstat, mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';

const errno = (thrown: unknown): string | null =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;

/** A folder, anything else that is there, or nothing. Links are not followed: the program inside may have made them. */
const kindOf = async (path: string): Promise<'folder' | 'link' | 'other' | null> => {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return 'folder';
    return found.isSymbolicLink() ? 'link' : 'other';
  } catch (thrown) {
    // Below a file nothing is there either; the file itself is refused when its turn comes.
    if (['ENOENT', 'ENOTDIR'].includes(errno(thrown) ?? '')) return null;
    throw thrown;
  }
};

const refuse = (path: string): OrreryError =>
  new OrreryError('path_refused', `${path} cannot be closed to programs: it is a link to nothing, or lies below a file.`, {
    rule: 'A protected path is a file, a folder, or not there; what is not there is held by an empty folder.',
    fix: 'Take the link out of the repository.',
  });

const makeFolder = async (path: string): Promise<boolean> => {
  try {
    await mkdir(path, { mode: 0o755 });
    return true;
  } catch (thrown) {
    if (errno(thrown) === 'EEXIST') return false;
    throw thrown;
  }
};

/**
 * Makes an empty folder for each of `paths` that is not there, and for its parents; answers what was made, parents first.
 * Every path must have an ancestor that exists. Throws `path_refused` where a link or a file is in the way.
 */
export const makePlaceholders = async (paths: readonly string[]): Promise<string[]> => {
  const made: string[] = [];
  const ensure = async (path: string): Promise<void> => {
    const kind = await kindOf(path);
    if (kind === 'folder') return;
    if (kind !== null) throw refuse(path);
    await ensure(dirname(path));
    if (await makeFolder(path)) made.push(path);
  };
  for (const path of paths) {
    const kind = await kindOf(path);
    if (kind === 'link') throw refuse(path);
    if (kind === null) await ensure(path);
  }
  return made;
};

/** Takes away those of `paths` that are empty folders, the deepest first: two runs may have noted them in any order. */
export const removePlaceholders = async (paths: readonly string[]): Promise<void> => {
  for (const path of paths.toSorted((one, other) => other.length - one.length)) {
    try {
      await rmdir(path);
    } catch (thrown) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errno(thrown) ?? '')) throw thrown;
    }
  }
};
