import { constants, copyFileSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, lookAt, walkTree } from '../../files/tree-walk.ts';
import { stagePaths, type Change, type ChangeTools } from './model.ts';

/**
 * Brings the objects of the stage into the repository. Whole files under their final names only, packs before what makes
 * Git look for them; whatever is there already stays. Objects that nothing names yet are Git's own to clean.
 */
export const releaseObjects = async ({ step }: Pick<ChangeTools, 'step'>, change: Change): Promise<void> => {
  const from = stagePaths(change).objects;
  if (lookAt(from) === null) return;
  const objects = join(change.commonDir, 'objects');
  const files = (await walkTree(from)).filter(({ type }) => type === 'file').map(({ path }) => path);
  const loose = files.filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(path));
  const packed = files
    .filter((path) => /^pack\/pack-[0-9a-f]{40}\.(pack|rev|idx)$/.test(path))
    .sort((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')));
  for (const path of [...packed, ...loose]) {
    await step();
    mkdirSync(join(objects, path, '..'), { recursive: true });
    placeAt(join(from, path), join(objects, path));
  }
};

const placeAt = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch (thrown) {
    if (isErrno(thrown, 'EEXIST')) return;
    if (!isErrno(thrown, 'EPERM', 'EXDEV', 'ENOTSUP', 'EMLINK')) throw thrown;
    // Whole under another name first: a copy that is cut must not have the name of an object.
    const aside = `${to}.orrery`;
    copyFileSync(from, aside, constants.COPYFILE_FICLONE);
    renameSync(aside, to);
  }
};
