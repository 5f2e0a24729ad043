import { setImmediate } from 'node:timers/promises';
import { REMOVE_BATCH } from '../kernel/limits.ts';
import { absoluteBytes, lookAt, walkTree } from './tree-walk.ts';

/**
 * Bytes that a tree takes on its disk: blocks, not lengths; a file with several names once. What vanishes meanwhile counts
 * nothing. Rejects soon after `signal` is aborted.
 */
export const diskUse = async (root: string, signal?: AbortSignal): Promise<number> => {
  signal?.throwIfAborted();
  const top = lookAt(root);
  if (top === null) return 0;
  const seen = new Set<string>();
  let bytes = top.blocks * 512;
  let left = REMOVE_BATCH;
  for (const { path } of await walkTree(root, { signal })) {
    const found = lookAt(absoluteBytes(root, path));
    if (--left <= 0) {
      left = REMOVE_BATCH;
      await setImmediate();
      signal?.throwIfAborted();
    }
    if (found === null) continue;
    const key = `${found.dev}:${found.ino}`;
    if (found.nlink > 1 && !found.isDirectory()) {
      if (seen.has(key)) continue;
      seen.add(key);
    }
    bytes += found.blocks * 512;
  }
  return bytes;
};
