// Containers of an engine as places for environments.
import { setTimeout as sleep } from 'node:timers/promises';
import { OrreryError } from '@orrery/protocol/errors';
import type { Place, PlaceProvider, PlaceSpec } from '../remote/place.ts';
import { mountableHere, proveBound } from './bound.ts';
import type { Engine } from './engine.ts';
import { createImageBuilder, pruneImages } from './image-builder.ts';
import { chooseImage, ensureImage } from './image.ts';
import { describeEngine, kindOf, limitsFor, ownLimits, sysctlsFor } from './kind.ts';
import { LABELS, isOwned } from './labels.ts';
import type { Owner } from './labels.ts';
import { ASK_AGAIN_MS, NAME_TAKEN_MS } from './limits.ts';
import type { DockerOptions } from './options.ts';
import { createContainerPlace, lookAt } from './place.ts';
import { programsOfImage } from './programs.ts';
import type { LocalPrograms } from './programs.ts';
import { PLACE_FOLDER, PLACE_ROOT, containerName, renderContainer } from './request.ts';
import { clearShared, sharedOf } from './shared.ts';
import { firstFile, folderArchive } from './tar.ts';
import { chooseUser, needsNames, refuseRoot, resolveUser } from './user.ts';
import type { UserIds } from './user.ts';
import { BOUND_CANNOT_STOP, CANNOT_STOP, PROVIDES, checkEngine } from './walls.ts';
import type { EngineContainer } from './wire.ts';

/** What the provider is made of. */
export type DockerParts = {
  readonly options: DockerOptions;
  readonly installation: string;
  readonly programs: LocalPrograms;
  /** The keeper program for an architecture. */
  readonly keeperProgram: (arch: string) => string;
  /** Connects once; a failure is tried again at the next call. */
  readonly engine: () => Promise<Engine>;
};

const fileText = async (engine: Engine, id: string, path: string): Promise<string> => {
  const archive = await engine.getArchive(id, path);
  return (archive === null ? null : firstFile(archive))?.toString('utf8') ?? '';
};

/** Who programs of a container are, in numbers. */
const ownerOf = async (engine: Engine, container: EngineContainer, option: string | null): Promise<UserIds> => {
  const user = container.Config.User ?? '';
  const read = (path: string): Promise<string> => (needsNames(user) ? fileText(engine, container.Id, path) : Promise.resolve(''));
  return refuseRoot(resolveUser(user, { passwd: await read('/etc/passwd'), group: await read('/etc/group') }), option);
};

const mustBeThere = (container: EngineContainer | null): EngineContainer => {
  if (container !== null) return container;
  throw new OrreryError('backend_unavailable', 'The container was removed while it was being made.', { fix: 'Try again.' });
};

/** The folder of the environment: there before anything can run, for its user alone. */
const makeRoot = (engine: Engine, id: string, owner: UserIds): Promise<void> => {
  const name = PLACE_ROOT.slice(PLACE_FOLDER.length + 1);
  return engine.putArchive(id, PLACE_FOLDER, folderArchive([{ name, mode: 0o700, ...owner }]));
};

/** Its parent in the container's own layer; a volume is there already, and the rest then cannot be written. */
const makeFolder = (engine: Engine, id: string): Promise<void> =>
  engine.putArchive(id, '/', folderArchive([{ name: PLACE_FOLDER.slice(1), mode: 0o755, uid: 0, gid: 0 }]));

/** Makes the container's folder and starts it; what cannot be made whole is taken away again. */
const finish = async (
  engine: Engine,
  parts: DockerParts,
  id: string,
): Promise<{ container: EngineContainer; owner: UserIds }> => {
  try {
    const made = mustBeThere(await engine.inspect(id));
    const owner = await ownerOf(engine, made, parts.options.user);
    if (made.State.Status === 'created') {
      if (!parts.options.readOnlyRoot) await makeFolder(engine, id);
      await makeRoot(engine, id, owner);
    }
    await engine.start(id);
    const container = mustBeThere(await engine.inspect(id));
    if (container.State.Status === 'running') return { container, owner };
    throw new OrreryError(
      'backend_unavailable',
      `The container ended at once (exit code ${container.State.ExitCode ?? 'unknown'}).`,
      {
        rule: 'An image needs a shell (sh) and sleep.',
        fix: 'Choose another image: execution.options.docker.image',
      },
    );
  } catch (thrown) {
    if (!(thrown instanceof OrreryError && thrown.code === 'backend_unreachable'))
      await engine.removeContainer(id).catch(() => undefined);
    throw thrown;
  }
};

const findOwn = async (engine: Engine, owner: Owner): Promise<EngineContainer | null> => {
  for (const { id, labels } of await engine.listContainers(owner)) {
    const found = isOwned(labels, owner) ? await engine.inspect(id) : null;
    if (found !== null) return found;
  }
  return null;
};

const nameTaken = (): OrreryError =>
  new OrreryError('conflict', 'The engine has a container of that name which is not of this environment.', {
    rule: 'What another program made is not touched.',
    fix: 'Rename or remove it: docker ps -a --filter name=orrery-',
  });

/** The container that has the name: ours, which another request is making at this moment, or somebody else's. */
const awaitNamed = async (engine: Engine, spec: PlaceSpec): Promise<string> => {
  for (const start = performance.now(); performance.now() - start < NAME_TAKEN_MS; await sleep(ASK_AGAIN_MS)) {
    // The name is taken a moment before there is anything to be seen.
    const found = await engine.inspect(containerName(spec));
    if (found === null) continue;
    if (isOwned(found.Config.Labels, spec)) return found.Id;
    break;
  }
  throw nameTaken();
};

const make = async (
  engine: Engine,
  { options }: DockerParts,
  given: { spec: PlaceSpec; progress: (line: string) => void },
): Promise<string> => {
  const { spec, progress } = given;
  const name = chooseImage(spec.image, options);
  const image = await ensureImage(engine, { name, pull: options.pull }, progress);
  const user = chooseUser(options.user, spec.user ?? image.Config?.User);
  const kind = kindOf(await engine.about());
  const told = { ulimits: limitsFor(kind, ownLimits()), ...sysctlsFor(kind) };
  const request = renderContainer({ spec: mountableHere(spec), options, image: { id: image.Id, name }, user, ...told });
  return (await engine.createContainer(request)) ?? awaitNamed(engine, spec);
};

const create = async (parts: DockerParts, spec: PlaceSpec, progress: (line: string) => void): Promise<Place> => {
  const engine = await parts.engine();
  const before = await findOwn(engine, spec);
  const made = await finish(engine, parts, before?.Id ?? (await make(engine, parts, { spec, progress })));
  const place = placeOf(parts, engine, made);
  if (parts.options.workspace === 'copy') return place;
  try {
    await proveBound(place, spec);
  } catch (thrown) {
    await place.remove().catch(() => undefined);
    throw thrown;
  }
  return place;
};

const find = async (parts: DockerParts, environmentId: string, ref: Readonly<Record<string, string>>): Promise<Place | null> => {
  const owner: Owner = { installation: parts.installation, environmentId };
  const engine = await parts.engine();
  const named = ref.container === undefined ? null : await engine.inspect(ref.container);
  const container = named !== null && isOwned(named.Config.Labels, owner) ? named : await findOwn(engine, owner);
  if (container === null) return null;
  const state = await lookAt(engine, container.Id);
  if (state.state === 'gone') return null;
  if (state.state === 'unknown')
    throw new OrreryError('backend_unreachable', `The container of ${environmentId} cannot be used: ${state.why}.`, {
      rule: 'What cannot be looked at is not taken for gone.',
    });
  const ids = await ownerOf(engine, container, parts.options.user);
  return placeOf(parts, engine, { container, owner: ids });
};

const placeOf = (
  parts: DockerParts,
  engine: Engine,
  made: { readonly container: EngineContainer; readonly owner: UserIds },
): Place => ({
  ...createContainerPlace({ engine, ...made, mounted: mountedIn(parts, made.container) }),
  ...sharedOf({ engine, installation: parts.installation, keeperProgram: parts.keeperProgram }, made.container, made.owner),
});

/** What a container has of this machine: what is mounted, and programs of its image. */
const mountedIn = ({ programs }: DockerParts, { Mounts: mounts, Config }: EngineContainer): Place['mounted'] => [
  ...programsOfImage(Config.Labels, programs),
  ...(mounts ?? [])
    .filter(({ Type }) => Type === 'bind')
    .map(({ Source, Destination }) => ({ local: Source ?? Destination, inside: Destination })),
];

const idsOf = async (parts: DockerParts): Promise<string[]> => {
  const owner: Owner = { installation: parts.installation };
  const engine = await parts.engine();
  const found = [...(await engine.listContainers(owner)), ...(await engine.listVolumes(owner))];
  const ids = found.flatMap(({ labels }) => (isOwned(labels, owner) ? [labels[LABELS.environment] ?? ''] : []));
  return [...new Set(ids)].filter((id) => id !== '');
};

const sweep = async (parts: DockerParts, environmentId: string): Promise<void> => {
  const owner: Owner = { installation: parts.installation, environmentId };
  const engine = await parts.engine();
  for (const { id, labels } of await engine.listContainers(owner)) if (isOwned(labels, owner)) await engine.removeContainer(id);
  for (const { id, labels } of await engine.listVolumes(owner)) if (isOwned(labels, owner)) await engine.removeVolume(id);
};

/** The provider of containers. */
export const createDockerProvider = (parts: DockerParts): PlaceProvider => ({
  name: 'docker',
  about: async () => describeEngine(await (await parts.engine()).about()),
  takesImages: true,
  images: { build: createImageBuilder(parts), prune: () => pruneImages(parts) },
  preflight: async () => {
    const engine = await parts.engine();
    checkEngine(await engine.about());
    // Pulled at opening if the operator says so; else it has to be there before anything else is made.
    const { options } = parts;
    if (options.pull === 'never') await ensureImage(engine, { name: chooseImage(null, options), pull: 'never' }, () => undefined);
  },
  create: (spec, progress) => create(parts, spec, progress),
  find: (environmentId, ref) => find(parts, environmentId, ref),
  list: () => idsOf(parts),
  sweep: (environmentId) => sweep(parts, environmentId),
  clear: async () => clearShared(await parts.engine(), parts.installation),
  provides: PROVIDES,
  cannotStop: parts.options.workspace === 'bind' ? [...CANNOT_STOP, ...BOUND_CANNOT_STOP] : CANNOT_STOP,
  toolPaths: parts.options.toolPaths,
  ownPaths: ['/tmp', '/var/tmp', '/dev/shm'],
  protectsPaths: false,
  defaultRequired: ['files', 'network', 'processes'],
});
