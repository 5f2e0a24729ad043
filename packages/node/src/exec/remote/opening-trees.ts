// Which directories of this machine an environment has, what each is called in its place, and bringing those that it does not see.
import { readdir } from 'node:fs/promises';
import type { EnvironmentSpec } from '../backend.ts';
import { createBelongings } from './belongings.ts';
import type { Bringing } from './belongings.ts';
import { borrowedFolder, stageBorrowed } from './borrowed.ts';
import type { ObjectPacks } from './borrowed-objects.ts';
import type { PlaceLayout } from './layout.ts';
import type { Ledger } from './ledger.ts';
import type { PathPair } from './paths.ts';
import type { Place } from './place.ts';
import { carryTree, stageDifference, stageIn, workTree } from './staging.ts';
import type { StagedTree, Stager } from './staging.ts';

const memoryFolder = ({ root }: PlaceLayout): string => `${root}/memory`;

/** Directories of this machine that an environment has, and where they go in a place that sees none of them. */
const ownPairs = (spec: EnvironmentSpec, layout: PlaceLayout): PathPair[] => [
  { local: spec.workdir, inside: layout.work },
  { local: spec.home, inside: layout.home },
  { local: spec.scratchpad, inside: layout.tmp },
  ...(spec.memory === undefined ? [] : [{ local: spec.memory, inside: memoryFolder(layout) }]),
  ...(spec.borrows === undefined ? [] : [{ local: spec.borrows.objects, inside: borrowedFolder(layout.root) }]),
];

const seenBy = (place: Place, local: string): string | null => {
  const mount = place.mounted
    .filter((one) => local === one.local || local.startsWith(`${one.local}/`))
    .toSorted((a, b) => b.local.length - a.local.length)[0];
  return mount === undefined ? null : `${mount.inside}${local.slice(mount.local.length)}`;
};

/** What everything is called there: as it is mounted, else where it is brought. */
export const pairsOf = (spec: EnvironmentSpec, place: Place, layout: PlaceLayout): PathPair[] => [
  ...place.mounted,
  ...ownPairs(spec, layout).filter(({ local }) => seenBy(place, local) === null),
];

/** The trees of an environment that have to be brought and carried back. */
export const treesOf = (spec: EnvironmentSpec, place: Place, layout: PlaceLayout): StagedTree[] => {
  const work = { ...workTree(layout), local: spec.workdir };
  const home = { name: 'home', local: spec.home, inside: layout.home, skip: [] };
  const memory =
    spec.memory === undefined ? [] : [{ name: 'memory', local: spec.memory, inside: memoryFolder(layout), skip: [] }];
  return [work, ...(spec.keepsHome === true ? [home] : []), ...memory].filter(({ local }) => seenBy(place, local) === null);
};

/** What of a home that goes with its place is carried back. */
export const keptOf = (spec: EnvironmentSpec, place: Place, layout: PlaceLayout): StagedTree | null =>
  spec.homeKeeps === undefined || spec.keepsHome === true || seenBy(place, spec.home) !== null
    ? null
    : { name: 'kept', local: spec.home, inside: layout.home, skip: [], only: spec.homeKeeps };

type Staged = Bringing & { readonly packs: ObjectPacks; readonly spec: EnvironmentSpec; readonly ledger: Ledger };

const isEmpty = async (folder: string): Promise<boolean> => (await readdir(folder)).length === 0;

/** Brings everything that the place does not see, and notes what it was like there. Repeatable. */
export const stageAll = async (stager: Stager, { spec, ledger, packs, fence, programs }: Staged): Promise<void> => {
  const { place, layout } = stager.line;
  const trees = treesOf(spec, place, layout);
  const lists = new Map<string, Buffer>();
  for (const tree of trees) lists.set(tree.name, await (place.keptFiles === true ? stageDifference : stageIn)(stager, tree));
  if (seenBy(place, spec.home) === null && spec.keepsHome !== true && !(await isEmpty(spec.home)))
    await carryTree(stager, { local: spec.home, inside: layout.home });
  const work = trees.find(({ name }) => name === 'work');
  if (work !== undefined) {
    const seen = spec.borrows === undefined ? null : seenBy(place, spec.borrows.objects);
    const list = await stageBorrowed({ stager, packs, work }, spec, seen);
    if (list !== null) lists.set(work.name, list);
  }
  await createBelongings(stager, ledger, { fence, programs }).bring(spec.grants);
  for (const [name, list] of lists) await ledger.directory.writeList(name, list);
};
