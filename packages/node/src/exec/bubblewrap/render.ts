import type { Confinement, KeeperSpec, PathRule } from '../../keeper/types.ts';
import { ownGrants, resolveGrants } from '../grants.ts';
import { renderKeeperSpec } from '../keeper-spec.ts';
import type { RenderInput } from '../keeper-spec.ts';
import { systemGrants } from '../sandbox/system-grants.ts';
import { toolFolders, toolGrants } from '../tool-paths.ts';
import { planMounts } from './mounts.ts';
import type { Mount } from './mounts.ts';

/** What the machine and the operator's options add to every run. */
export type BubblewrapSettings = {
  /** Where `bwrap` is. */
  readonly program: string;
  /** Whether the node is root: then there is no user namespace, since files of other users stay what they are. */
  readonly root: boolean;
  readonly toolPaths: readonly string[];
  readonly unixSockets: boolean;
};

/** How much shared memory a run may use. */
const SHARED_MEMORY_BYTES = 1024 ** 3;
/** There is no resolver inside: names are looked up by the broker's egress proxy alone. */
const NOT_INSIDE = ['/etc/resolv.conf'];
/** Of the kernel's settings and switches only /proc/sys is everywhere. */
const KERNEL_SWITCHES = ['/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];
/** Executed inside as the first process: the keeper's own program, by a descriptor that bwrap passes on. */
const INNER = ['/proc/self/fd/100', 'inside'];

const bind = ({ path, write, device }: Mount): string[] => {
  if (device) return ['--dev-bind', path, path];
  return [write ? '--bind' : '--ro-bind', path, path];
};

/** The exact command line of bubblewrap for these mounts. */
export const renderCommand = (mounts: readonly Mount[], { program, root }: BubblewrapSettings): string[] => [
  program,
  ...(root ? [] : ['--unshare-user']),
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
  ...['--as-pid-1', '--die-with-parent', '--new-session'],
  // What is left to root's inner process takes the last capabilities from the program for good.
  ...['--cap-drop', 'ALL', ...(root ? ['--cap-add', 'CAP_SETPCAP'] : [])],
  ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
  ...KERNEL_SWITCHES.flatMap((path) => ['--ro-bind-try', path, path]),
  ...['--dev', '/dev', '--size', String(SHARED_MEMORY_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'],
  ...mounts.flatMap(bind),
  ...['--remount-ro', '/dev', '--remount-ro', '/'],
  '--',
  ...INNER,
];

/** The rules of a run: the machine without its resolver, the environment, the run's own. */
export const runRules = ({ environment, run, fence, disk }: RenderInput, toolPaths: readonly string[]): PathRule[] => {
  const grants = [
    ...systemGrants.filter(({ path }) => !NOT_INSIDE.includes(path)),
    ...toolGrants(toolPaths),
    ...ownGrants(environment),
    ...environment.grants,
    ...run.grants,
  ];
  return resolveGrants(grants, { home: environment.home, fence, disk });
};

/**
 * What a keeper is told by the backend `bubblewrap`: the command line of bwrap, whose file system is made of the grants
 * alone, and inside of it the same rules once more by Landlock, which also tells reading from executing.
 */
export const renderBubblewrap = (input: RenderInput, settings: BubblewrapSettings): KeeperSpec => {
  const files = runRules(input, settings.toolPaths);
  const { mounts, closed } = planMounts(files, input.environment.readOnly, input.disk);
  const confinement: Confinement = {
    files,
    readOnly: closed,
    network: 'none',
    processes: true,
    unixSockets: settings.unixSockets,
    wrapper: renderCommand(mounts, settings),
  };
  const machine = { ...input.machine, toolFolders: toolFolders(settings.toolPaths, input.disk) };
  return renderKeeperSpec({ ...input, machine }, confinement);
};
