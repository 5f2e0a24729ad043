// The objects that a checkout borrows, in a place.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentSpec } from '../backend.ts';
import type { ObjectPacks } from './borrowed-objects.ts';
import { putFile, putLocalFile } from './place-tools.ts';
import type { Line } from './patience.ts';
import { ALTERNATES } from './staging.ts';

/** Where borrowed objects lie in a place that does not see those of this machine. */
export const borrowedFolder = (root: string): string => `${root}/borrowed`;

/**
 * Makes the borrowed objects of a checkout in `work` readable there: the history of its commit as one pack, unless the place
 * sees them as `seen`. A checkout that borrows nothing is left as it is. Answers whether the tree was changed.
 */
export const stageBorrowed = async (
  { line, packs }: { readonly line: Line; readonly packs: ObjectPacks },
  spec: EnvironmentSpec,
  { work, seen }: { readonly work: string; readonly seen: string | null },
): Promise<boolean> => {
  const inside = seen ?? borrowedFolder(line.layout.root);
  if (spec.borrows !== undefined && seen === null) {
    const { pack, index } = await packs.of(spec.borrows.objects, spec.borrows.commits);
    await putLocalFile(line, `${inside}/pack/pack-borrowed.pack`, pack);
    await putLocalFile(line, `${inside}/pack/pack-borrowed.idx`, index);
  }
  if (!existsSync(join(spec.workdir, ALTERNATES))) return false;
  const text = spec.borrows === undefined ? await readFile(join(spec.workdir, ALTERNATES)) : Buffer.from(`${inside}\n`);
  await putFile(line, `${work}/${ALTERNATES}`, { bytes: text, mode: 0o644 });
  return true;
};
