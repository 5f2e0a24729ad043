// What the engine is asked to make: pure, so that it can be read and tested whole.
import type { PlaceSpec } from '../remote/place.ts';
import { LABELS } from './labels.ts';
import { CARRIER_SECONDS, CONTAINER_PROCESSES, LEAST_MEMORY_BYTES, OWN_PROCESSES, SHARED_MEMORY_BYTES } from './limits.ts';
import type { Ulimit } from './kind.ts';
import type { DockerOptions } from './options.ts';

/** What the backend has in a container; a volume where the rest cannot be written. */
export const PLACE_FOLDER = '/orrery';
/** The environment's own directory in its container: for its user alone, which a volume's own root cannot be made. */
export const PLACE_ROOT = `${PLACE_FOLDER}/env`;

/** What environments of an installation share: a volume, mounted there. */
export const SHARED_FOLDER = '/orrery-programs';

/** What a create request is made of. */
export type ContainerPlan = {
  readonly spec: PlaceSpec;
  readonly options: DockerOptions;
  /** The image by its id, so that nothing else can come to have its name meanwhile, and the name it was found by. */
  readonly image: { readonly id: string; readonly name: string };
  /** As the engine takes it: numbers, or names of the image. */
  readonly user: string;
  /** Limits of programs that the engine has to be told. */
  readonly ulimits: readonly Ulimit[];
  /** Switches of its network that the engine has to be told. */
  readonly sysctls?: Readonly<Record<string, string>>;
};

/**
 * The first process: it does nothing but wait, so that programs whose parents ended are taken up and their ends collected.
 * It has no handler for any signal, and a first process gets none from inside that it does not handle.
 */
const IDLE = 'command -v sleep >/dev/null || exit 127; while :; do sleep 2147483647 & wait; done';

const nanoCpus = (cpus: number | null): number => Math.round((cpus ?? 0) * 1e9);

const least = (...values: (number | null | undefined)[]): number | null => {
  const given = values.filter((value) => value !== null && value !== undefined);
  return given.length === 0 ? null : Math.min(...given);
};

const memoryOf = ({ options, spec }: ContainerPlan): { Memory: number; MemorySwap: number } => {
  const bytes = least(options.memoryBytes, spec.limits.memoryBytes);
  // The same number for both: no swap.
  const memory = bytes === null ? 0 : Math.max(bytes, LEAST_MEMORY_BYTES);
  return { Memory: memory, MemorySwap: memory };
};

type Mount = {
  readonly Type: 'bind' | 'volume';
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?: { readonly Propagation: 'rprivate' };
  readonly VolumeOptions?: { readonly NoCopy?: true; readonly Labels: Record<string, string> };
};

const bind = (path: string, readOnly: boolean): Mount => ({
  Type: 'bind',
  Source: path,
  Target: path,
  ReadOnly: readOnly,
  BindOptions: { Propagation: 'rprivate' },
});

const sharedLabels = (installation: string): Record<string, string> => ({
  [LABELS.installation]: installation,
  [LABELS.shared]: 'programs',
});

const sharedMount = (installation: string, readOnly: boolean): Mount => ({
  Type: 'volume',
  Source: nameOf(installation, 'programs'),
  Target: SHARED_FOLDER,
  ReadOnly: readOnly,
  VolumeOptions: { NoCopy: true, Labels: sharedLabels(installation) },
});

const labelsOf = ({ spec, image }: ContainerPlan): Record<string, string> => ({
  [LABELS.installation]: spec.installation,
  [LABELS.environment]: spec.environmentId,
  [LABELS.task]: spec.taskId,
  [LABELS.image]: image.name,
});

const mountsOf = (plan: ContainerPlan): Mount[] => [
  sharedMount(plan.spec.installation, true),
  ...plan.options.toolPaths.map((path) => bind(path, true)),
  ...(plan.options.workspace === 'bind' ? plan.spec.mountable.map(({ local, readOnly }) => bind(local, readOnly)) : []),
  // Behind a root that cannot be written, that folder is a volume of its own, which goes with the container.
  ...(plan.options.readOnlyRoot
    ? [{ Type: 'volume' as const, Target: PLACE_FOLDER, ReadOnly: false, VolumeOptions: { Labels: labelsOf(plan) } }]
    : []),
];

const hostConfig = (plan: ContainerPlan) => {
  const { options, spec } = plan;
  return {
    // Nothing but loopback. An "internal" network would still reach the machine itself; the way out is the broker's relay.
    NetworkMode: 'none',
    AutoRemove: false,
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    Privileged: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    IpcMode: 'private',
    ReadonlyRootfs: options.readOnlyRoot,
    ...(options.readOnlyRoot ? { Tmpfs: { '/tmp': 'rw,nosuid,nodev,mode=1777' } } : {}),
    ...memoryOf(plan),
    NanoCpus: nanoCpus(options.cpus),
    PidsLimit: (least(options.processes, spec.limits.processes) ?? CONTAINER_PROCESSES) + OWN_PROCESSES,
    ShmSize: SHARED_MEMORY_BYTES,
    // Open files stay as the engine has them: an engine in a container of its own may not raise them.
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }, ...plan.ulimits],
    Mounts: mountsOf(plan),
    LogConfig: { Type: 'none', Config: {} },
    ...(options.runtime === null ? {} : { Runtime: options.runtime }),
    ...(plan.sysctls === undefined ? {} : { Sysctls: { ...plan.sysctls } }),
  };
};

/** The request that makes the container of an environment. Holds no secret: everybody who may use the engine can read it. */
export const renderContainer = (plan: ContainerPlan) => ({
  name: containerName(plan.spec),
  Image: plan.image.id,
  Entrypoint: ['sh', '-c', IDLE],
  Cmd: [],
  User: plan.user,
  WorkingDir: '/',
  Hostname: 'orrery',
  Labels: labelsOf(plan),
  Healthcheck: { Test: ['NONE'] },
  Tty: false,
  OpenStdin: false,
  StopSignal: 'SIGKILL',
  HostConfig: hostConfig(plan),
});

/** The request for the container that writes what environments share. It ends by itself when nobody ends it. */
export const renderCarrier = ({
  installation,
  image,
  user,
  name,
}: Record<'installation' | 'image' | 'user' | 'name', string>) => ({
  name: nameOf(installation, name),
  Image: image,
  Entrypoint: ['sleep', String(CARRIER_SECONDS)],
  Cmd: [],
  User: user,
  WorkingDir: '/',
  Labels: sharedLabels(installation),
  Healthcheck: { Test: ['NONE'] },
  StopSignal: 'SIGKILL',
  HostConfig: {
    NetworkMode: 'none',
    AutoRemove: true,
    Privileged: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    IpcMode: 'private',
    ReadonlyRootfs: true,
    Mounts: [sharedMount(installation, false)],
    LogConfig: { Type: 'none', Config: {} },
  },
});

const nameOf = (...parts: readonly string[]): string =>
  ['orrery', ...parts]
    .join('-')
    .replaceAll(/[^a-zA-Z0-9_.-]/g, '-')
    .slice(0, 128);

/** For people who look with the engine's own tools. The same for the same environment, so that two cannot be made. */
export const containerName = ({ installation, environmentId }: Pick<PlaceSpec, 'installation' | 'environmentId'>): string =>
  nameOf(installation, environmentId);

export type ContainerRequest = ReturnType<typeof renderContainer> | ReturnType<typeof renderCarrier>;
