// Grants as the rules of a keeper: absolute, existing, and never around what belongs to the node.
import { join, normalize } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { PathAccess, PathRule } from '../keeper/types.ts';
import type { PathGrant } from './backend.ts';

/** What resolving needs to know of the disk; an argument, so that rendering is a pure function. */
export type Disk = {
  exists(path: string): boolean;
  /** The path with its links resolved; itself when it does not exist. */
  real(path: string): string;
};

/** What no grant may hand out. */
export type Fence = {
  /** Never equal to or above one of these: the node's own directories. */
  readonly notAround: readonly string[];
  /** Nor below this one, where keepers have their directories … */
  readonly notInside: string;
  /** … but for this directory of files that were carried in. */
  readonly except: string;
};

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);

const union = (a: PathAccess, b: PathAccess): PathAccess => {
  const letters = `${a}${b}`;
  return `r${letters.includes('w') ? 'w' : 'o'}${letters.includes('x') ? 'x' : ''}` as PathAccess;
};

const absolutePath = (grant: PathGrant, home: string): string => {
  const path = grant.scope === 'home' ? join(home, grant.path) : normalize(grant.path);
  const inPlace = grant.scope === 'home' ? isWithin(path, normalize(home)) : path.startsWith('/');
  if (inPlace) return path.length > 1 ? path.replace(/\/+$/, '') : path;
  throw new OrreryError('path_refused', `The grant ${grant.path} is not a path that can be granted.`, {
    rule: 'A grant is absolute, or below the home of the environment.',
  });
};

/** Throws `path_refused` for a path that would hand out what no grant may. */
export const checkFence = (path: string, fence: Fence, disk: Disk): void => {
  const real = disk.real(path);
  const around = fence.notAround.find((one) => isWithin(disk.real(one), real));
  const inside = isWithin(real, disk.real(fence.notInside)) && !isWithin(real, disk.real(fence.except));
  if (around === undefined && !inside) return;
  throw new OrreryError('path_refused', `${path} cannot be granted to a program.`, {
    rule: `It ${around === undefined ? 'lies in' : 'holds'} a directory of the node itself.`,
    fix: 'Grant a narrower path, or move the data directory out of it.',
  });
};

/**
 * The rules for `grants`, in order, one for each path with the union of what was granted. A required path that is not
 * there is `not_found`; an optional one is left out. A path around the node's own directories is `path_refused`.
 */
export const resolveGrants = (
  grants: readonly PathGrant[],
  { home, fence, disk }: { readonly home: string; readonly fence: Fence; readonly disk: Disk },
): PathRule[] => {
  const rules = new Map<string, PathAccess>();
  for (const grant of grants) {
    const path = absolutePath(grant, home);
    if (!disk.exists(path)) {
      if (!grant.required) continue;
      throw new OrreryError('not_found', `A path the program needs is not there: ${path}.`, {
        rule: 'A required grant must exist.',
        fix: 'Make it, or take it out of the grants.',
        details: { path },
      });
    }
    checkFence(path, fence, disk);
    const before = rules.get(path);
    rules.set(path, before === undefined ? grant.access : union(before, grant.access));
  }
  return [...rules].map(([path, access]) => ({ path, access }));
};

/** Grants of the places every environment has: its checkout, its home and its temporary directory. */
export const ownGrants = ({
  workdir,
  home,
  scratchpad,
}: {
  readonly workdir: string;
  readonly home: string;
  readonly scratchpad: string;
}): PathGrant[] =>
  [workdir, home, scratchpad].map((path) => ({ path, access: 'rwx', scope: 'absolute', provenance: 'orrery', required: true }));
