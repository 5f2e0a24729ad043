// The place a conformance case plays on: a checkout, a home, a temporary directory, something outside that nobody was
// granted, a broker to talk to, and one open environment.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Backend, Environment, EnvironmentSpec, Handle, PathGrant, RunEnd, RunSpec } from '../../src/exec/backend.ts';
import type { OutputStream } from '../../src/keeper/types.ts';

/** Where a backend under test keeps its state, and what it must never grant. */
export type BackendPlace = { readonly stateDir: string; readonly protectedPaths: readonly string[] };

/** What a backend promises; a case asserts the promise, or that there is none. */
export type Expectations = {
  /** The groups of cases that a variant of a backend differs in. Absent: all. */
  readonly groups?: readonly string[];
  readonly confines: { readonly files: boolean; readonly network: boolean; readonly processes: boolean };
  /** Whether programs of one environment see each other, as in a place whose own walls are the only ones around them. */
  readonly seesNeighbours?: boolean;
  readonly enforces: { readonly memory: boolean; readonly processes: boolean };
};

/** Where programs of a backend under test run. Default: on this machine, under keepers below the state directory. */
export type Venue = {
  /** Runs a script of the shell in the place of an environment, outside of its walls, and answers what it said. */
  shell(environmentId: string, script: string, ...words: readonly string[]): Promise<string>;
  /** Where the keepers of an environment have their directories there. */
  runsOf(environmentId: string): Promise<string>;
  /** How to get Node there: its path, and what it needs to be granted. */
  readonly node: { readonly path: string; readonly grant: PathGrant };
  /** A module that exports `makeBackend(place, given)`, for a second process that uses the backend; null: the built-in one. */
  readonly module: { readonly path: string; readonly given: unknown } | null;
};

/** A backend under test, and where its programs run. */
export type Subject = { readonly backend: Backend; readonly venue?: Venue };

export type Finished = { readonly end: RunEnd; readonly stdout: Buffer; readonly stderr: Buffer };

export type Stage = {
  readonly root: string;
  readonly place: BackendPlace;
  readonly spec: EnvironmentSpec;
  readonly backend: Backend;
  readonly environment: Environment;
  readonly venue: Venue;
  /** A directory beside everything, with a file `secret` in it. */
  readonly outside: string;
  /** What the broker was asked, newest last. */
  readonly brokerCalls: string[];
  runSpec(over: Partial<RunSpec>): RunSpec;
  /** Starts and says go. */
  start(over: Partial<RunSpec>): Promise<Handle>;
  /** Runs a script of the shell to its end in the checkout; it must succeed. */
  prepare(script: string): Promise<void>;
  /** Whether the environment has a program of that name. */
  has(program: string): Promise<boolean>;
  /** Runs to the end and settles. */
  run(over: Partial<RunSpec>): Promise<Finished>;
  close(): Promise<void>;
};

export const NODE = process.execPath;

/** The Node of this machine, and what it needs to be granted. */
export const ownNode: Venue['node'] = {
  path: NODE,
  grant: { path: dirname(dirname(NODE)), access: 'rox', scope: 'absolute', provenance: 'environment', required: true },
};

const run = promisify(execFile);

const thisMachine = (place: BackendPlace, backend: Backend): Venue => ({
  shell: async (_id, script, ...words) => (await run('sh', ['-c', script, 'sh', ...words])).stdout,
  runsOf: (id) => Promise.resolve(join(place.stateDir, backend.name, id, 'runs')),
  node: ownNode,
  module: null,
});

export const word = (): string => randomBytes(6).toString('hex');

export const collect = async (handle: Handle, stream: OutputStream, from = 0): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let expected = from;
  for await (const { offset, bytes } of handle.output(stream, from)) {
    if (offset !== expected) throw new Error(`output jumped from ${expected} to ${offset}`);
    expected += bytes.length;
    parts.push(bytes);
  }
  return Buffer.concat(parts);
};

/** A sleep that only one test has, so that its processes can be found from outside. */
export const uniqueSleep = (): string => `sleep 9${parseInt(word().slice(0, 7), 16)}`;

/** Processes that are this command (words parted by single spaces), seen from outside. Zombies have no command line. */
export const processesWith = (command: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `${command.replaceAll(' ', '\0')}\0`;
      } catch {
        return false;
      }
    });

export const until = async (what: string, holds: () => boolean | Promise<boolean>, withinMs = 45_000): Promise<void> => {
  for (const start = performance.now(); !(await holds());) {
    if (performance.now() - start > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
};

const startBroker = async (socket: string, calls: string[]): Promise<Server> => {
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.end(`broker heard ${request.url}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(socket, resolve);
  });
  return server;
};

const makeTree = (): string => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-conformance-'));
  chmodSync(root, 0o755);
  for (const name of ['data/exec', 'work/checkout', 'work/home', 'work/tmp', 'outside'])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'outside/secret'), 'not for you', { mode: 0o644 });
  return root;
};

const environmentSpec = (root: string, over: Partial<EnvironmentSpec>): EnvironmentSpec => ({
  id: `env-${word()}`,
  taskId: 'task',
  workdir: join(root, 'work/checkout'),
  home: join(root, 'work/home'),
  scratchpad: join(root, 'work/tmp'),
  grants: [],
  readOnly: [],
  ports: { connect: [], bind: [], egress: [] },
  limits: { wallMs: 120_000, outputBytes: 1024 ** 3 },
  required: [],
  brokerSocket: join(root, 'data/broker.sock'),
  project: null,
  image: null,
  ...over,
});

export type OpenStage = (over?: Partial<EnvironmentSpec>) => Promise<Stage>;

/** Sets a stage with one open environment. Close it in any case. */
export const openStage = async (
  makeSubject: (place: BackendPlace) => Subject,
  over: Partial<EnvironmentSpec> = {},
): Promise<Stage> => {
  const root = makeTree();
  const place: BackendPlace = { stateDir: join(root, 'data/exec'), protectedPaths: [join(root, 'data')] };
  const brokerCalls: string[] = [];
  const { backend, venue: given } = makeSubject(place);
  const venue = given ?? thisMachine(place, backend);
  const spec = environmentSpec(root, { grants: [venue.node.grant], ...over });
  const broker = await startBroker(spec.brokerSocket, brokerCalls);
  const environment = await backend.open(spec);
  const runSpec = (run: Partial<RunSpec>): RunSpec => ({
    command: 'sh',
    args: [],
    cwd: spec.workdir,
    grants: [],
    env: {},
    envPassthrough: [],
    stdio: 'piped',
    limits: { wallMs: 60_000, outputBytes: 512 * 1024 * 1024 },
    label: 'a case',
    runId: `run-${word()}`,
    ...run,
  });
  const start = async (run: Partial<RunSpec>): Promise<Handle> => {
    const handle = await environment.start(runSpec(run));
    await handle.go();
    return handle;
  };
  const runToEnd = async (over: Partial<RunSpec>): Promise<Finished> => {
    const handle = await start(over);
    const [stdout, stderr, end] = await Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
    await handle.finish();
    return { end, stdout, stderr };
  };
  return {
    root,
    place,
    spec,
    backend,
    environment,
    venue,
    outside: join(root, 'outside'),
    brokerCalls,
    runSpec,
    start,
    prepare: async (script) => {
      const { end, stderr } = await runToEnd({ args: ['-ec', script] });
      if (end.exitCode !== 0) throw new Error(`the script ended with ${JSON.stringify(end)}: ${stderr.toString()}`);
    },
    has: async (program) => (await runToEnd({ args: ['-c', 'command -v "$1"', 'sh', program] })).end.exitCode === 0,
    run: runToEnd,
    close: async () => {
      await environment.close();
      broker.closeAllConnections();
      await new Promise((resolve) => {
        broker.close(resolve);
      });
      rmSync(root, { recursive: true, force: true });
    },
  };
};

/** A script for Node, run from its text; what it prints as JSON is the answer. */
export const askNode = async (stage: Stage, script: string, over: Partial<RunSpec> = {}): Promise<unknown> => {
  const { end, stdout, stderr } = await stage.run({
    command: stage.venue.node.path,
    args: ['--input-type=module', '-e', script],
    ...over,
  });
  if (end.exitCode !== 0) throw new Error(`the script ended with ${JSON.stringify(end)}: ${stderr.toString()}`);
  return JSON.parse(stdout.toString());
};
