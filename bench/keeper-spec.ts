import type { Confinement, KeeperSpec } from '../packages/node/src/keeper/types.ts';

const GIB = 2 ** 30;

/** A program with the node's usual bounds and no walls. */
export const plainSpec = (command: string, args: readonly string[]): KeeperSpec => ({
  command,
  args,
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  stdio: 'piped',
  confinement: null,
  limits: { outputBytes: 4 * GIB, spoolWindowBytes: 64 * 2 ** 20 },
  front: null,
  required: [],
  goTimeoutMs: 30_000,
  releaseTimeoutMs: 60_000,
});

/** What a sandbox allows at least: the system for reading, one directory for writing, processes and network of its own. */
export const walls = (directory: string): Confinement => ({
  files: [
    ...['/usr', '/lib', '/lib64', '/bin'].map((path) => ({ path, access: 'rox' }) as const),
    { path: '/etc', access: 'ro' },
    { path: '/proc', access: 'ro' },
    { path: '/dev/null', access: 'rw' },
    { path: directory, access: 'rwx' },
  ],
  readOnly: [],
  network: 'none',
  processes: true,
  unixSockets: false,
});
