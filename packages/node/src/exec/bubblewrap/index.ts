// Backend `bubblewrap`: mount, pid, ipc, uts and network namespaces by `bwrap`, seccomp, limits and streams by the keeper.
import { z } from 'zod';
import type { BackendFactory, EnvironmentSpec, RunSpec } from '../backend.ts';
import { DEFAULT_REQUIRED } from '../guarantee-check.ts';
import { createKeeperBackend, systemDisk } from '../keeper-backend.ts';
import type { KeeperBackendKind, KeeperBackendParts } from '../keeper-backend.ts';
import type { RenderInput } from '../keeper-spec.ts';
import { SANDBOX_FRONT_PORT } from '../limits.ts';
import { frontOptions, parseBackendOptions } from '../options.ts';
import { probeBubblewrap } from './probe.ts';
import { findBubblewrap } from './program.ts';
import { renderBubblewrap } from './render.ts';

const absolutePath = z.string().regex(/^\//, 'an absolute path');

const optionsSchema = z.strictObject({
  ...frontOptions,
  bwrapPath: absolutePath.nullable().default(null).describe('Where bwrap is; looked for when it is not said'),
  toolPaths: z.array(absolutePath).default([]).describe('Directories every program may read and execute, beside the system'),
  unixSockets: z.boolean().default(false).describe('Allow Unix sockets inside'),
  frontPort: z.int().min(1024).max(65535).default(SANDBOX_FRONT_PORT).describe("The broker's port inside"),
});

type Options = z.output<typeof optionsSchema>;

const CANNOT_STOP = [
  'A fault of the kernel itself, or of bwrap.',
  'Learning the names of the folders above a granted path, and of the mounts of its own file system.',
  'Filling the disk with many files: a limit bounds each file, not their sum.',
  'Sending data to an allowed host: names are checked, contents are not.',
  'Changing hooks, editor and agent settings inside the checkout that no read-only path covers: the node never runs or reads them from there.',
  'Replacing a protected path that is itself a symbolic link (what it leads to stays read-only); the node never runs or reads it from there.',
];

/** A probe has no node whose directories could be granted. */
const noFence = (environment: EnvironmentSpec): RenderInput['fence'] => ({
  notAround: [],
  notInside: environment.brokerSocket,
  except: environment.brokerSocket,
});

const isRoot = process.getuid?.() === 0;

const kindOf = (parts: KeeperBackendParts, options: Options): KeeperBackendKind => {
  const { bwrapPath, frontPort, toolPaths, unixSockets, ...front } = options;
  const program = (): string => findBubblewrap({ named: bwrapPath, path: parts.variables.PATH ?? '' });
  const render = (input: RenderInput) => renderBubblewrap(input, { program: program(), root: isRoot, toolPaths, unixSockets });
  const probe = (environment: EnvironmentSpec, run: RunSpec) => {
    const machine = { variables: {}, user: 'probe' };
    const disk = parts.disk ?? systemDisk;
    return render({ environment, run, machine, disk, fence: noFence(environment), front: { ...front, port: frontPort } });
  };
  return {
    name: 'bubblewrap',
    notice: null,
    cannotStop: CANNOT_STOP,
    defaultRequired: DEFAULT_REQUIRED,
    available: async () => void program(),
    guarantees: () => probeBubblewrap(parts.keeper, probe),
    front,
    frontPort: () => Promise.resolve(frontPort),
    render,
    placeholders: true,
  };
};

/** The factory of `bubblewrap`. Options: `bwrapPath`, `toolPaths`, `unixSockets`, `frontPort`, `brokerHoldMs`, `brokerHoldMax`. */
export const bubblewrapFactory = (parts: KeeperBackendParts): BackendFactory => ({
  name: 'bubblewrap',
  aliases: ['bwrap'],
  summary:
    'Namespaces by bwrap: a file system of what was granted alone, no network but the broker. Needs the package bubblewrap.',
  make: (options) => createKeeperBackend(kindOf(parts, parseBackendOptions('bubblewrap', optionsSchema, options)), parts),
});
