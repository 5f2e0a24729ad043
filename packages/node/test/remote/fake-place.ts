// A place that is a folder of this machine: real commands, real keepers, and connections that a test can cut.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import type { Readable } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { pipeline } from 'node:stream/promises';
import { descendants, residentBytes } from '../../src/exec/process-tree.ts';
import type { Place, PlaceCommand, PlaceProcess, PlaceProvider, PlaceState } from '../../src/exec/remote/place.ts';

/** What a test does to all places of a provider. */
export type FakePlaces = PlaceProvider & {
  /** Drops every connection that is open: the commands on the other side lose their streams. Answers how many there were. */
  cut(): number;
  /** While true no new connection can be made and nobody can tell whether places are there. */
  unreachable: boolean;
  /** While true what leads there is missing (a configuration, a server's socket): nothing can be asked, made or found. */
  unconfigured: boolean;
  /** The root of an environment's place. */
  rootOf(environmentId: string): string;
  /** Takes a place away with its programs, and leaves its files: `revive` gives them to another one. */
  lose(environmentId: string): void;
};

type Open = { readonly child: ChildProcess; readonly lose: (why: string) => void };

const VARIABLES = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', SHELL: '/bin/sh', LANG: 'C.UTF-8' };

const feed = (child: ChildProcess, stdin: PlaceCommand['stdin']): void => {
  if (child.stdin === null || stdin === 'open') return;
  if (stdin === undefined) child.stdin.end();
  else if (stdin instanceof Uint8Array) child.stdin.end(stdin);
  else void pipeline(stdin as Readable, child.stdin).catch(() => undefined);
};

const runCommand = (command: PlaceCommand, open: Set<Open>): PlaceProcess => {
  const [program = '', ...args] = command.argv;
  const child = spawn(program, args, { cwd: '/', env: VARIABLES, stdio: 'pipe', detached: true });
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString('utf8')).slice(-8192)));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  const { promise: ended, resolve } = Promise.withResolvers<{ readonly exitCode: number } | { readonly lost: string }>();
  const stdio = Duplex.from({ readable: child.stdout, writable: child.stdin });
  stdio.on('error', () => undefined);
  const lose = (why: string): void => {
    resolve({ lost: why });
    stdio.destroy();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  };
  const one: Open = { child, lose };
  open.add(one);
  const timer = command.timeoutMs === null ? null : setTimeout(() => child.kill('SIGKILL'), command.timeoutMs);
  const over = (end: { readonly exitCode: number } | { readonly lost: string }): void => {
    open.delete(one);
    if (timer !== null) clearTimeout(timer);
    resolve(end);
  };
  child.once('error', (thrown) => over({ lost: thrown.message }));
  child.once('close', (code) => over(code === null ? { lost: 'the command was ended' } : { exitCode: code }));
  feed(child, command.stdin);
  return { stdio, stderr: () => stderr, ended, close: () => lose('the view was dropped') };
};

/** Removes a folder in which programs that are ending still remove files of their own. */
const removeWhole = (path: string): void => {
  while (existsSync(path)) rmSync(path, { recursive: true, force: true });
};

const keepersBelow = (runs: string): number[] =>
  readdirSync(runs).flatMap((name): number[] => {
    const status = join(runs, name, 'status');
    return existsSync(status) ? [(JSON.parse(readFileSync(status, 'utf8')) as { pid: number }).pid] : [];
  });

/** Where the files of a place wait that was taken away. */
const keptBelow = (directory: string, id: string): string => join(directory, id, 'kept');

const restore = (directory: string, id: string, placeOf: () => Place): Place | null => {
  const kept = keptBelow(directory, id);
  if (!existsSync(kept)) return null;
  renameSync(kept, join(directory, id, 'root'));
  return placeOf();
};

/** Everything below the keepers of a place. */
const measure = async (runs: string) => {
  const pids = (await Promise.all(keepersBelow(runs).map(descendants))).flat();
  const sizes = await Promise.all(pids.map(residentBytes));
  return { processes: pids.length, memoryBytes: sizes.reduce((sum, size) => sum + size, 0), diskBytes: null };
};

/** The folder that they share, written by commands of this machine. */
const sharedIn = (path: string | undefined, root: string): Pick<Place, 'shared'> => {
  if (path === undefined) return {};
  const exec = async (command: PlaceCommand): Promise<PlaceProcess> => runCommand(command, new Set());
  const writer = { exec, keeper: join(root, 'keeper/orrery-keeper'), close: () => Promise.resolve() };
  return { shared: { path, environments: join(root, '../..'), writer: () => Promise.resolve(writer) } };
};

/** A provider whose places are folders below `directory`. */
export const createFakePlaces = (
  directory: string,
  { shared, keeps = false }: { readonly shared?: string; readonly keeps?: boolean } = {},
): FakePlaces => {
  const open = new Set<Open>();
  const lost = new Map<string, number>();
  const numberOf = (id: string): number => lost.get(id) ?? 0;
  const rootOf = (id: string): string => join(directory, id, 'root');
  const reach = (): void => {
    if (places.unconfigured) throw new OrreryError('backend_unavailable', 'Nothing is configured.', { fix: 'Configure it.' });
    if (places.unreachable) throw new Error('the line is down');
  };
  const isThere = (id: string, number: number): boolean => number === numberOf(id) && existsSync(rootOf(id));
  const state = async (id: string, number: number): Promise<PlaceState> => {
    if (places.unreachable) return { state: 'unknown', why: 'the line is down' };
    return isThere(id, number) ? { state: 'running' } : { state: 'gone', why: 'its folder is not there' };
  };
  const placeOf = (id: string, number = numberOf(id)): Place => ({
    ref: { id },
    identity: { host: `fake-${id}` },
    root: rootOf(id),
    owner: null,
    variables: VARIABLES,
    mounted: [],
    ...sharedIn(shared, rootOf(id)),
    exec: async (command) => {
      if (places.unreachable) throw new Error('the line is down');
      // An engine that answers, and has no such place any more, refuses.
      if (!isThere(id, number)) throw new OrreryError('backend_unavailable', 'There is no such place.');
      return runCommand(command, open);
    },
    state: () => state(id, number),
    explain: () => Promise.resolve(null),
    stats: () => measure(join(rootOf(id), 'runs')),
    remove: async () => removeWhole(join(directory, id)),
    detach: () => undefined,
  });
  const places: FakePlaces = {
    name: 'fake',
    provides: [],
    cannotStop: [],
    defaultRequired: [],
    unreachable: false,
    unconfigured: false,
    rootOf,
    preflight: async () => reach(),
    create: async ({ environmentId }) => {
      reach();
      mkdirSync(rootOf(environmentId), { recursive: true, mode: 0o700 });
      return placeOf(environmentId);
    },
    ...(keeps ? { revive: async (id) => restore(directory, id, () => placeOf(id)) } : {}),
    lose: (id) => {
      for (const pid of keepersBelow(join(rootOf(id), 'runs'))) process.kill(pid, 'SIGKILL');
      renameSync(rootOf(id), keptBelow(directory, id));
      lost.set(id, numberOf(id) + 1);
      places.cut();
    },
    find: async (id) => {
      reach();
      return existsSync(rootOf(id)) ? placeOf(id) : null;
    },
    list: async () => {
      reach();
      return existsSync(directory) ? readdirSync(directory) : [];
    },
    sweep: async (id) => {
      reach();
      removeWhole(join(directory, id));
    },
    cut: () => {
      const count = open.size;
      for (const one of open) one.lose('the connection was cut');
      return count;
    },
  };
  return places;
};
