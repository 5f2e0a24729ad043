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
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${randomHex(systemRandom, 6)}.tmp`);
  const handle = await open(temporary, 'wx', mode);
  try {
    try {
      await handle.chmod(mode);
      await handle.writeFile(contents);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
  await syncDirectory(directory);
};
