// A backend whose environments are places somewhere else: what docker, kubernetes and ssh share.
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { createGit } from '../../git/run.ts';
import type { Git } from '../../git/run.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Clock } from '../../kernel/clock.ts';
import { directSpawner } from '../../kernel/spawner.ts';
import { createLocalTrees } from '../../keeper/trees.ts';
import type { LocalTrees } from '../../keeper/trees.ts';
import type { GuaranteeReport, KeeperGuarantee } from '../../keeper/types.ts';
import type { Backend, Pruning } from '../backend.ts';
import { checkGuarantees } from '../guarantee-check.ts';
import type { KeeperBackendParts } from '../keeper-backend.ts';
import type { FrontSettings } from '../keeper-spec.ts';
import { BROKER_HOLD_MAX, BROKER_HOLD_MS } from '../limits.ts';
import { createObjectPacks } from './borrowed-objects.ts';
import { nobodyCanTell } from './command.ts';
import { UNREACHABLE_MS } from './limits.ts';
import { mergeReports, openPlace, reopenPlace } from './opening.ts';
import type { Opening } from './opening.ts';
import type { PlaceProvider } from './place.ts';
import { prunePlaces, reclaimPlaces } from './reclaim.ts';
import { placeDirectory } from './record.ts';
import { createSharedPrograms } from './shared-programs.ts';
import type { AtPlaceStep } from './steps.ts';

/** What the node gives every remote backend. */
export type RemoteBackendParts = KeeperBackendParts & {
  /** Names this node among others that use the same engine, cluster or host. */
  readonly installation: string;
  /** The static keeper program for a Linux machine of that architecture (`x64`, `arm64`). */
  readonly keeperProgram: (arch: string) => string;
  /** Works on trees of this machine. Default: by the keeper program, started from this process. */
  readonly trees?: LocalTrees;
  readonly git?: Git;
  /** Directories that places may see read-only, beside those of an environment: where agent programs are. */
  readonly mountable?: readonly string[];
  readonly front?: FrontSettings;
  readonly clock?: Clock;
  readonly patienceMs?: number;
  readonly atStep?: AtPlaceStep;
};

const NAMES: readonly KeeperGuarantee[] = ['files', 'network', 'hosts', 'processes', 'signals', 'limits'];

/** What is known before there is a place: what it gives by itself; the rest is asked of the keeper in it. */
const knownReports = ({ name, provides }: PlaceProvider): GuaranteeReport[] =>
  NAMES.map((guarantee) => {
    const missing = `known when an environment is open: ${name} asks the place`;
    return provides.find((report) => report.guarantee === guarantee) ?? { guarantee, held: false, by: 'nothing', missing };
  });

/** What is missing before anything is made is said as it is; of what was made it only means that nobody can tell. */
const withQuestions = (provider: PlaceProvider): PlaceProvider => {
  const asking = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown: unknown) => {
      throw nobodyCanTell(thrown);
    });
  const { revive, discard } = provider;
  return {
    ...provider,
    find: (id, ref) => asking(provider.find(id, ref)),
    list: () => asking(provider.list()),
    sweep: (id) => asking(provider.sweep(id)),
    ...(revive === undefined ? {} : { revive: (id, ref) => asking(revive(id, ref)) }),
    ...(discard === undefined ? {} : { discard: (id) => asking(discard(id)) }),
  };
};

/** Which images are used is only known to who takes them away: none is named before. */
const pruneImages = async ({ images }: PlaceProvider, { dryRun }: Pruning): Promise<readonly string[]> =>
  dryRun || images === undefined ? [] : images.prune();

/** What only some places can. */
const abilities = ({
  about,
  discard,
  images,
  takesImages = false,
}: PlaceProvider): Pick<Backend, 'about' | 'discard' | 'images' | 'takesImages'> => ({
  takesImages,
  ...(about === undefined ? {} : { about }),
  ...(discard === undefined ? {} : { discard }),
  ...(images === undefined ? {} : { images: { build: images.build } }),
});

/** What brings things to places. */
const bearersOf = (parts: RemoteBackendParts): Pick<Opening, 'trees' | 'packs' | 'programs'> => {
  const trees = parts.trees ?? createLocalTrees({ binary: () => parts.keeperProgram(process.arch), spawner: directSpawner });
  const packs = createObjectPacks({ git: parts.git ?? createGit(), directory: join(parts.stateDir, 'packs') });
  return { trees, packs, programs: createSharedPrograms(trees) };
};

/** A backend over the places of `given`. */
export const createRemoteBackend = (given: PlaceProvider, parts: RemoteBackendParts): Backend => {
  const provider = withQuestions(given);
  const parent = join(parts.stateDir, provider.name);
  const stop = new AbortController();
  const opening: Opening = {
    installation: parts.installation,
    keeperProgram: parts.keeperProgram,
    provider,
    fence: {
      notAround: [parts.stateDir, ...parts.protectedPaths],
      notInside: parts.stateDir,
      except: join(parts.stateDir, 'none'),
    },
    ...bearersOf(parts),
    views: new Set(),
    stopping: stop.signal,
    mountable: parts.mountable ?? [],
    front: parts.front ?? { brokerHoldMs: BROKER_HOLD_MS, brokerHoldMax: BROKER_HOLD_MAX },
    clock: parts.clock ?? systemClock,
    patienceMs: parts.patienceMs ?? UNREACHABLE_MS,
    atStep: parts.atStep ?? (() => undefined),
  };
  const reclaiming = { ...opening, parent, salvage: join(parts.stateDir, 'salvage') };
  return {
    name: provider.name,
    exposure: { kind: 'loopback' },
    guarantees: async () =>
      provider.probe === undefined ? knownReports(provider) : mergeReports(provider.provides, await provider.probe()),
    cannotStop: provider.cannotStop,
    protectsPaths: provider.protectsPaths ?? true,
    defaultRequired: provider.defaultRequired,
    preflight: async (required) => {
      await provider.preflight();
      if (provider.probe !== undefined)
        return checkGuarantees(provider.name, mergeReports(provider.provides, await provider.probe()), required);
      // What the place itself cannot give is refused now; what its keepers can is known, and refused, when it is open.
      const never = provider.provides.filter(({ held }) => !held).map(({ guarantee }) => guarantee);
      checkGuarantees(
        provider.name,
        provider.provides,
        required.filter((name) => never.includes(name)),
      );
    },
    open: (spec) => openPlace(opening, placeDirectory(parent, spec.id), spec),
    reopen: (spec) => reopenPlace(opening, placeDirectory(parent, spec.id), spec),
    detach: () => {
      stop.abort(new OrreryError('stale', 'The node is stopping.'));
      for (const letGo of opening.views) letGo();
    },
    reclaim: (live) => reclaimPlaces(reclaiming, live),
    prune: async (pruning) => [...(await prunePlaces(reclaiming, pruning)), ...(await pruneImages(provider, pruning))],
    ...abilities(provider),
  };
};
