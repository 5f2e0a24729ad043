// From rules to mounts: what is seen inside, in the order in which bubblewrap has to make it. Pure.
import type { PathRule } from '../../keeper/types.ts';
import type { Disk } from '../grants.ts';

/** One bind mount of a path to the same path inside. */
export type Mount = { readonly path: string; readonly write: boolean; readonly device: boolean };

/** The mounts of one run and the paths that are read-only inside writable ones. */
export type MountPlan = { readonly mounts: readonly Mount[]; readonly closed: readonly string[] };

/** Devices that bubblewrap makes itself; everything of /proc is the run's own. */
const MADE_BY_BUBBLEWRAP = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'shm', 'pts', 'ptmx'].map(
  (name) => `/dev/${name}`,
);

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);

const isMade = (path: string): boolean => path === '/dev' || MADE_BY_BUBBLEWRAP.includes(path) || isWithin(path, '/proc');

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));

/** Parents before what is in them. */
const byDepth = (one: string, other: string): number => one.split('/').length - other.split('/').length || (one < other ? -1 : 1);

const mayWrite = (path: string, rules: readonly PathRule[]): boolean =>
  rules.some((rule) => rule.access.includes('w') && isWithin(path, rule.path));

/** Where a path of `root` lies when every link on the way is followed, as a path of `root`; null when that is elsewhere. */
const placeIn = (root: string, path: string, disk: Disk): string | null => {
  let there = path;
  while (there !== root && !disk.exists(there)) there = parentOf(there);
  const realRoot = disk.real(root);
  const real = disk.real(there);
  if (!isWithin(real, realRoot)) return null;
  return `${root}${real.slice(realRoot.length)}${path.slice(there.length)}`;
};

/**
 * One mount for each rule that no mount around it serves already. A path that is a link inside a mounted folder is
 * mounted where the link leads, since that is where a program will look.
 */
const mountsOf = (rules: readonly PathRule[], disk: Disk): Mount[] => {
  const mounts: Mount[] = [];
  for (const { path } of rules.toSorted((one, other) => byDepth(one.path, other.path))) {
    if (isMade(path)) continue;
    const write = mayWrite(path, rules);
    const around = mounts.findLast((one) => isWithin(path, one.path));
    const linked = around !== undefined && placeIn(around.path, path, disk) !== path;
    const target = linked ? disk.real(path) : path;
    const serving = mounts.findLast((one) => isWithin(target, one.path));
    if (serving !== undefined && (serving.write || !write)) continue;
    mounts.push({ path: target, write, device: isWithin(target, '/dev') });
  }
  return mounts;
};

/** The outermost folder that may be written and holds `path`. */
const writableRoot = (path: string, rules: readonly PathRule[]): string | undefined =>
  rules
    .filter((rule) => rule.access.includes('w') && isWithin(path, rule.path))
    .map((rule) => rule.path)
    .toSorted(byDepth)[0];

const between = (root: string, path: string): string[] => {
  const parents: string[] = [];
  for (let at = parentOf(path); at !== root && isWithin(at, root); at = parentOf(at)) parents.push(at);
  return parents;
};

/**
 * The paths of `readOnly` that lie in a writable folder, each where it really is. A link that leads out of the folder is
 * left out: where it leads is not writable, or has its own place in the list.
 */
export const closedPaths = (readOnly: readonly string[], rules: readonly PathRule[], disk: Disk): string[] => {
  const places = readOnly.flatMap((path) => {
    const root = writableRoot(path, rules);
    const place = root === undefined ? null : placeIn(root, path, disk);
    return place === null ? [] : [place];
  });
  return [...new Set(places)].toSorted(byDepth);
};

/**
 * What is mounted for `rules`, with `readOnly` closed in it. Folders between a writable root and a closed path become
 * mounts of their own, because the folder of a mount can be moved away but a mount cannot.
 */
export const planMounts = (rules: readonly PathRule[], readOnly: readonly string[], disk: Disk): MountPlan => {
  const closed = closedPaths(readOnly, rules, disk);
  const pins = closed.flatMap((path) => between(writableRoot(path, rules)!, path));
  const pinned = [...new Set(pins)].filter((path) => !closed.some((one) => isWithin(path, one))).toSorted(byDepth);
  return {
    mounts: [
      ...mountsOf(rules, disk),
      ...pinned.map((path) => ({ path, write: true, device: false })),
      ...closed.map((path) => ({ path, write: false, device: false })),
    ],
    closed,
  };
};
