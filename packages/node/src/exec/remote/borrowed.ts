// The objects that a checkout borrows, in a place.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentSpec } from '../backend.ts';
import type { ObjectPacks } from './borrowed-objects.ts';
import { ALTERNATES, putAndList } from './staging.ts';
import type { StagedTree, Stager } from './staging.ts';
import type { TarPart } from './tar.ts';

const FOLDER = 'borrowed';

/** Where borrowed objects lie in a place that does not see those of this machine. */
export const borrowedFolder = (root: string): string => `${root}/${FOLDER}`;

/** The history of the commits as one pack, unless the place sees it. */
const packParts = async (packs: ObjectPacks, { borrows }: EnvironmentSpec, seen: string | null): Promise<TarPart[]> => {
  if (borrows === undefined || seen !== null) return [];
  const { pack, index } = await packs.of(borrows.objects, borrows.commits);
  return [
    { name: `${FOLDER}/pack/pack-borrowed.pack`, mode: 0o400, from: pack },
    { name: `${FOLDER}/pack/pack-borrowed.idx`, mode: 0o400, from: index },
  ];
};

/** Where the objects of the checkout are there, in the file that says so; a checkout that has none borrows nothing. */
const alternateParts = async ({ workdir, borrows }: EnvironmentSpec, inside: string, name: string): Promise<TarPart[]> => {
  if (!existsSync(join(workdir, ALTERNATES))) return [];
  const from = borrows === undefined ? await readFile(join(workdir, ALTERNATES)) : Buffer.from(`${inside}\n`);
  return [{ name, mode: 0o644, from }];
};

/**
 * Makes the borrowed objects of a checkout readable there: the history of its commits as one pack, unless the place sees them
 * as `seen`. Answers the list of the checkout after that; null: it borrows nothing and was left as it is.
 */
export const stageBorrowed = async (
  { stager, packs, work }: { readonly stager: Stager; readonly packs: ObjectPacks; readonly work: StagedTree },
  spec: EnvironmentSpec,
  seen: string | null,
): Promise<Buffer | null> => {
  const { root } = stager.line.layout;
  const name = `${work.inside.slice(root.length + 1)}/${ALTERNATES}`;
  const parts = [...(await packParts(packs, spec, seen)), ...(await alternateParts(spec, seen ?? borrowedFolder(root), name))];
  return parts.length === 0 ? null : putAndList(stager, work, parts);
};
