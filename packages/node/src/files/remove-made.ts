// Takes away a folder that its caller made itself a moment ago, and waits until it is really gone.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createRemover } from './remove.ts';

/** Deletes `folder`, which lies in `root`; one that is gone is fine. @throws OrreryError path_refused */
export const removeMade = async (root: string, folder: string): Promise<void> => {
  const found = await stat(folder).catch(() => null);
  if (found === null) return;
  const remover = createRemover({
    root,
    trash: join(root, '.trash'),
    protectedPaths: async () => [],
    onFailure: () => undefined,
  });
  await remover.remove({ path: folder, device: found.dev, inode: found.ino });
  await remover.settled();
};
