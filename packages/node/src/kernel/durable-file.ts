import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemRandom, randomHex } from './random.ts';

/** What makes a name in a directory survive a power cut. */
export const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Replaces `path` by `contents` so that after a crash at any moment there is either the old file or the new one, whole.
 * The mode is set before the first byte is written. Rejects with the system's error, and leaves the old file, when the
 * disk is full.
 */
export const writeDurably = async (
  path: string,
  contents: string | Uint8Array,
  { mode = 0o600 }: { mode?: number } = {},
): Promise<void> => {
  await replace(path, contents, { mode, sync: true });
  await syncDirectory(dirname(path));
};

/**
 * The same for a crash of this process alone: nothing waits for the disk, and after a power cut the file may be missing,
 * empty or torn. For what nobody needs then. Mode 0600.
 */
export const writeWhole = (path: string, contents: string | Uint8Array): Promise<void> =>
  replace(path, contents, { mode: 0o600, sync: false });

const replace = async (
  path: string,
  contents: string | Uint8Array,
  { mode, sync }: { readonly mode: number; readonly sync: boolean },
): Promise<void> => {
  const temporary = join(dirname(path), `.${basename(path)}.${randomHex(systemRandom, 6)}.tmp`);
  const handle = await open(temporary, 'wx', mode);
  try {
    try {
      await handle.chmod(mode);
      await handle.writeFile(contents);
      if (sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
};
