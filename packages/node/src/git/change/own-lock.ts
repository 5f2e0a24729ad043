import { chmodSync, linkSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isErrno, lookAt } from '../../files/tree-walk.ts';
import { busyRepository } from './model.ts';

/**
 * Takes a lock that Git knows, by a second name of a file in the stage: the lock is there at once with all its contents or
 * not at all, and whoever comes later can tell by the file itself whose it is. Rejects with `conflict` when it is held.
 */
export const takeLock = (
  { marker, lock, like }: { marker: string; lock: string; /** A file whose mode it gets. */ like: string },
  contents: string,
  what: string,
): void => {
  if (lookAt(marker) === null) writeFileSync(marker, contents, { flag: 'wx', mode: 0o600 });
  chmodSync(marker, (lookAt(like)?.mode ?? 0o644) & 0o666);
  for (let tries = 1; ; tries++) {
    mkdirSync(dirname(lock), { recursive: true });
    try {
      linkSync(marker, lock);
      return;
    } catch (thrown) {
      if (isErrno(thrown, 'EEXIST')) throw busyRepository(what, lock);
      // Git takes away empty folders of branches whenever it sees one.
      if (!isErrno(thrown, 'ENOENT') || tries === 5) throw thrown;
    }
  }
};

/** Whether a path is the very file that the stage has as its marker. */
export const isOwn = (marker: string, path: string): boolean => {
  const [ours, there] = [lookAt(marker), lookAt(path)];
  return ours !== null && there !== null && ours.isFile() && ours.ino === there.ino && ours.dev === there.dev;
};

/** Lets a lock go when it is the change's own; any other is left. */
export const releaseLock = ({ marker, lock }: { marker: string; lock: string }): void => {
  if (isOwn(marker, lock)) unlinkSync(lock);
};

/** Makes the lock what it guards, as Git does. */
export const commitLock = ({ lock, path }: { lock: string; path: string }): void => renameSync(lock, path);
