// What of this machine is in a place, and bringing more of it there when a program needs it.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { PathGrant } from '../backend.ts';
import { checkFence } from '../grants.ts';
import type { Fence } from '../grants.ts';
import { systemGrants } from '../sandbox/system-grants.ts';
import { systemDisk } from '../keeper-backend.ts';
import { PROVIDED_FILE_BYTES } from '../limits.ts';
import type { Ledger } from './ledger.ts';
import { createPathMap } from './paths.ts';
import type { PathMap, PathPair } from './paths.ts';
import { makeFolder, putFile } from './place-tools.ts';
import type { SharedPrograms } from './shared-programs.ts';
import { carryTree } from './staging.ts';
import type { Stager } from './staging.ts';

/** What is in the place. */
export type Belongings = {
  /** Names of paths in the place, those included that a run has yet to bring. Pure. */
  pathsFor(grants: readonly PathGrant[]): PathMap;
  /** Brings what the grants name and is not there yet. A required path that is nowhere is `not_found`. */
  bring(grants: readonly PathGrant[]): Promise<void>;
};

const missing = (path: string): OrreryError =>
  new OrreryError('not_found', `A path the program needs is not there: ${path}.`, {
    rule: 'A required grant must exist.',
    fix: 'Make it, or take it out of the grants.',
    details: { path },
  });

/** Where a path of this machine is put. Its own name is kept: programs look at it. */
const placeOf = (path: string, carried: string): PathPair => ({
  local: path,
  inside: `${carried}/${createHash('sha256').update(path).digest('hex').slice(0, 16)}/${basename(path)}`,
});

const carryFile = async ({ line }: Stager, { local, inside }: PathPair, mode: number): Promise<void> => {
  const bytes = await readFile(local);
  if (bytes.length > PROVIDED_FILE_BYTES)
    throw new OrreryError('input_too_large', `The file ${local} of ${bytes.length} bytes is too large to be carried in.`, {
      rule: `At most ${PROVIDED_FILE_BYTES} bytes.`,
    });
  await putFile(line, inside, { bytes, mode });
};

/** What every system has is the place's own: it is never brought, whoever asks for it. */
const isOfSystem = (path: string): boolean =>
  systemGrants.some((grant) => grant.access === 'rox' && (path === grant.path || path.startsWith(`${grant.path}/`)));

/** With what is brought: nothing that `fence` closes (the node's own directories), programs by the folder that places share. */
export type Bringing = { readonly fence: Fence; readonly programs: SharedPrograms };

/** The belongings of one environment. */
export const createBelongings = (stager: Stager, ledger: Ledger, { fence, programs }: Bringing): Belongings => {
  const { layout } = stager.line;
  const isOurs = (path: string): boolean => path === layout.root || path.startsWith(`${layout.root}/`);
  const wanted = (grants: readonly PathGrant[]): PathGrant[] => {
    const known = createPathMap(ledger.record.pairs);
    return grants.filter(
      ({ path, scope, provenance }) =>
        provenance === 'orrery' && scope === 'absolute' && !isOurs(path) && !isOfSystem(path) && known.path(path) === null,
    );
  };
  const planned = (grants: readonly PathGrant[]): PathPair[] => wanted(grants).map(({ path }) => placeOf(path, layout.carried));
  const bringOne = async ({ path, required, access }: PathGrant): Promise<void> => {
    const pair = placeOf(path, layout.carried);
    checkFence(path, fence, systemDisk);
    const found = await stat(path).catch(() => null);
    if (found === null && !required) return;
    if (found === null) throw missing(path);
    // A file may be another one next time; a folder is brought once.
    if (found.isFile()) return carryFile(stager, pair, found.mode & 0o777);
    const { shared } = stager.line.place;
    if (shared !== undefined && access === 'rox') await programs.bring(stager.line, shared, pair);
    else await bringFolder(pair);
    await ledger.change({ pairs: [...ledger.record.pairs, pair] });
  };
  const bringFolder = async (pair: PathPair): Promise<void> => {
    const parent = pair.inside.slice(0, pair.inside.lastIndexOf('/'));
    await makeFolder(stager.line, parent);
    await carryTree(stager, pair);
  };
  return {
    pathsFor: (grants) => createPathMap([...ledger.record.pairs, ...planned(grants)]),
    bring: async (grants) => {
      for (const grant of wanted(grants)) await bringOne(grant);
    },
  };
};
