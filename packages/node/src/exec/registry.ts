// The backends that are built in, and how a name becomes one.
import { OrreryError, closest } from '@orrery/protocol/errors';
import type { Backend, BackendFactory } from './backend.ts';
import type { Git } from '../git/run.ts';
import { findKeeperFor } from '../keeper/binary.ts';
import { createLocalTrees } from '../keeper/trees.ts';
import type { Spawner } from '../kernel/spawner.ts';
import type { KeeperBackendParts } from './keeper-backend.ts';
import { bubblewrapFactory } from './bubblewrap/index.ts';
import { dockerFactory } from './docker/index.ts';
import { kubernetesFactory } from './kubernetes/index.ts';
import { localFactory } from './local/index.ts';
import type { RemoteBackendParts } from './remote/index.ts';
import { sandboxFactory } from './sandbox/index.ts';
import { sshFactory } from './ssh/index.ts';

/** How to choose. `allowed` are the names the operator allows (aliases count), null for all. */
export type BackendChoice = { readonly name: string; readonly options: unknown; readonly allowed: readonly string[] | null };

/** What backends somewhere else need beside. */
export type ElsewhereParts = {
  /** Names this node among others that use the same engine, cluster or host. */
  readonly installation: string;
  readonly git: Git;
  readonly spawner: Spawner;
  /** The keeper program of this machine, when the operator named one. */
  readonly keeperProgram?: string;
  /** Where agent programs are. */
  readonly mountable: readonly string[];
};

/** What the node gives its backends; without `elsewhere` there are those of this machine alone. */
export type BackendParts = KeeperBackendParts & { readonly elsewhere?: ElsewhereParts };

/** What the backends somewhere else share. */
const remoteParts = (parts: BackendParts, elsewhere: ElsewhereParts): RemoteBackendParts => {
  const { installation, git, spawner, keeperProgram, mountable } = elsewhere;
  const keeperFor = (arch: string): string => findKeeperFor(arch, keeperProgram);
  const trees = createLocalTrees({ binary: () => keeperFor(process.arch), spawner });
  return { ...parts, installation, keeperProgram: keeperFor, trees, git, mountable };
};

/** The built-in factories, the default of Linux first. */
export const createBackendFactories = (parts: BackendParts): readonly BackendFactory[] => {
  const here = [sandboxFactory(parts), bubblewrapFactory(parts), localFactory(parts)];
  if (parts.elsewhere === undefined) return here;
  const remote = remoteParts(parts, parts.elsewhere);
  return [...here, dockerFactory(remote), sshFactory({ ...remote, spawner: parts.elsewhere.spawner }), kubernetesFactory(remote)];
};

const findFactory = (factories: readonly BackendFactory[], name: string): BackendFactory | undefined =>
  factories.find((one) => one.name === name || one.aliases.includes(name));

/**
 * The backend of that name or alias. An unknown name is `unknown_name` with the known ones and a guess, a name the operator
 * does not allow `backend_forbidden`, a wrong option its own error. Never another backend than the one asked for.
 */
export const resolveBackend = (factories: readonly BackendFactory[], { name, options, allowed }: BackendChoice): Backend => {
  const factory = findFactory(factories, name);
  const known = factories.map((one) => one.name);
  if (factory === undefined) {
    const guess = closest(
      name,
      factories.flatMap((one) => [one.name, ...one.aliases]),
    );
    throw new OrreryError('unknown_name', `There is no backend "${name}".`, {
      rule: `Backends here: ${known.join(', ')}.`,
      fix: guess === null ? 'orrery backend list' : `Did you mean "${guess}"?`,
    });
  }
  const permitted = allowed?.map((one) => findFactory(factories, one)?.name ?? one) ?? known;
  if (!permitted.includes(factory.name)) {
    throw new OrreryError('backend_forbidden', `The backend "${factory.name}" is not allowed on this node.`, {
      rule: `The operator allows: ${permitted.length === 0 ? 'none' : permitted.join(', ')}.`,
      fix: 'Choose an allowed one, or have the operator change execution.allowedBackends.',
    });
  }
  return factory.make(options);
};
