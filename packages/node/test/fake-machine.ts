// A small working machine for tests of the run ring: programs are functions, keepers outlive the node, and a node "dies"
// by its life being cut: from then on nothing it asks for is done and nothing it awaits comes.

import { OrreryError } from '@orrery/protocol';
import type { Backend, Environment, EnvironmentSpec, Handle, RunEnd, RunSpec, ScriptSpec } from '../src/exec/backend.ts';
import type { InputState, OutputChunk, OutputStream } from '../src/keeper/types.ts';

/** What a program of the fake machine does with its input. */
export type FakeProgram = (run: { readonly spec: RunSpec | ScriptSpec; readonly input: string; readonly home: string }) => {
  readonly stdout: string;
  readonly stderr?: string;
  readonly exitCode: number;
};

/** One start of the node. */
export type Life = { dead: boolean; readonly ended: Promise<void>; end(): void };

export const createLife = (): Life => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const life: Life = {
    dead: false,
    ended: promise,
    end: () => {
      life.dead = true;
      resolve();
    },
  };
  return life;
};

/** Passes a value on while the life lasts; afterwards it is never heard of again. */
export const whileAlive = <T>(life: Life, work: () => Promise<T>): Promise<T> =>
  life.dead
    ? new Promise<T>(() => undefined)
    : new Promise<T>((resolve, reject) => {
        work().then(
          (value) => (life.dead ? undefined : resolve(value)),
          (thrown: unknown) => (life.dead ? undefined : reject(thrown as Error)),
        );
      });

type FakeRun = {
  readonly spec: RunSpec | ScriptSpec;
  readonly home: string;
  gone: boolean;
  finished: boolean;
  readonly inputs: Map<string, string>;
  readonly stdout: Buffer[];
  readonly stderr: Buffer[];
  end: RunEnd | null;
  readonly over: PromiseWithResolvers<void>;
  readonly closed: PromiseWithResolvers<void>;
};

export type FakeMachine = {
  backend(life: Life): Backend;
  /** How often each program was really begun, by its input (or script path). */
  readonly begun: string[];
  /** Inputs written in full. */
  readonly written: string[];
  readonly openEnvironments: Set<string>;
  /** Contents of files that the node wrote into homes, by path; of each, the newest. */
  readonly homeFiles: Map<string, string>;
};

const endOf = (exitCode: number, stdoutBytes: number): RunEnd => ({
  exitCode,
  signal: null,
  limit: null,
  reason: null,
  tookMs: 1,
  userMs: 0,
  systemMs: 0,
  maxRssBytes: 0,
  stdoutBytes,
  stderrBytes: 0,
});

/** Makes a machine whose programs are given by `program`. */
export const createFakeMachine = (program: FakeProgram): FakeMachine => {
  const runs = new Map<string, FakeRun>();
  const machine = {
    begun: [] as string[],
    written: [] as string[],
    openEnvironments: new Set<string>(),
    homeFiles: new Map<string, string>(),
  };

  const begin = async (run: FakeRun): Promise<void> => {
    const isScript = 'path' in run.spec;
    if (!isScript) await run.closed.promise;
    const input = [...run.inputs.values()].join('');
    machine.begun.push(isScript ? (run.spec as ScriptSpec).label : input);
    const said = program({ spec: run.spec, input, home: run.home });
    for (const line of said.stdout.split(/(?<=\n)/)) run.stdout.push(Buffer.from(line));
    if (said.stderr !== undefined) run.stderr.push(Buffer.from(said.stderr));
    run.end = endOf(said.exitCode, said.stdout.length);
    run.over.resolve();
  };

  const handle = (life: Life, run: FakeRun): Handle => fakeHandle({ life, run, machine, begin });

  const environment = (life: Life, spec: EnvironmentSpec): Environment => {
    const start = (runSpec: RunSpec | ScriptSpec): Promise<Handle> =>
      whileAlive(life, async () => {
        const run: FakeRun = {
          spec: runSpec,
          home: spec.home,
          gone: false,
          finished: false,
          inputs: new Map(),
          stdout: [],
          stderr: [],
          end: null,
          over: Promise.withResolvers(),
          closed: Promise.withResolvers(),
        };
        runs.set(runSpec.runId, run);
        return handle(life, run);
      });
    return {
      id: spec.id,
      backend: 'fake',
      guarantees: [],
      brokerEndpoint: 'http://127.0.0.1:7777',
      freshEnvironment: true,
      carriesAgentState: true,
      workdir: spec.workdir,
      home: spec.home,
      scratchpad: spec.scratchpad,
      start,
      startScript: start,
      reattach: (runId) =>
        whileAlive(life, async () => (runs.has(runId) && !runs.get(runId)!.finished ? handle(life, runs.get(runId)!) : null)),
      provide: (name) => whileAlive(life, async () => `/provided/${name}`),
      describe: (runSpec) => runSpec.command,
      describeScript: (script) => script.path,
      forward: (port) => Promise.reject(new OrreryError('not_found', `Nothing listens on port ${port}.`)),
      stats: async () => ({ processes: 0, memoryBytes: 0, diskBytes: 0 }),
      writeHomeFile: (path, content) =>
        whileAlive(life, async () => void machine.homeFiles.set(path, Buffer.from(content).toString())),
      sync: () => whileAlive<void>(life, async () => undefined),
      close: () =>
        whileAlive(life, async () => {
          machine.openEnvironments.delete(spec.id);
          return { lost: null };
        }),
    };
  };

  return {
    ...machine,
    backend: (life) => {
      const open = (spec: EnvironmentSpec): Promise<Environment> =>
        whileAlive(life, async () => {
          machine.openEnvironments.add(spec.id);
          return environment(life, spec);
        });
      return {
        name: 'fake',
        exposure: { kind: 'loopback' },
        guarantees: async () => [],
        cannotStop: [],
        defaultRequired: [],
        preflight: () => whileAlive<void>(life, async () => undefined),
        open,
        reopen: (spec) =>
          machine.openEnvironments.has(spec.id)
            ? open(spec)
            : whileAlive(life, () => Promise.reject(new OrreryError('not_found', `The environment ${spec.id} is closed.`))),
        reclaim: async () => [],
      };
    },
  };
};

type HandleParts = {
  readonly life: Life;
  readonly run: FakeRun;
  readonly machine: { readonly written: string[] };
  begin(run: FakeRun): Promise<void>;
};

const fakeHandle = ({ life, run, machine, begin }: HandleParts): Handle => {
  let going = false;
  const inputState = (id: string): InputState => ({ state: run.inputs.has(id) ? 'written' : 'unwritten' });
  return {
    id: run.spec.runId,
    identity: { containerId: run.spec.runId },
    go: () =>
      whileAlive(life, async () => {
        if (going || run.end !== null || run.gone) return;
        going = true;
        run.gone = true;
        void begin(run);
      }),
    output: (stream, from) => fakeOutput(life, run, { stream, from }),
    write: (id, bytes) =>
      whileAlive(life, async () => {
        if (!run.inputs.has(id)) {
          run.inputs.set(id, Buffer.from(bytes).toString());
          machine.written.push(Buffer.from(bytes).toString());
        }
        return inputState(id);
      }),
    closeInput: () => whileAlive(life, async () => run.closed.resolve()),
    inputState: async (id) => inputState(id),
    resize: async () => undefined,
    wait: () =>
      whileAlive(life, async () => {
        await run.over.promise;
        return run.end!;
      }),
    tryWait: () => whileAlive(life, async () => run.end),
    terminate: () => whileAlive(life, async () => undefined),
    kill: () =>
      whileAlive(life, async () => {
        run.end ??= { ...endOf(0, 0), exitCode: null, signal: 'SIGKILL' };
        run.over.resolve();
      }),
    release: async () => undefined,
    finish: () =>
      whileAlive(life, async () => {
        run.finished = true;
      }),
    detach: () => undefined,
  };
};

const fakeOutput = async function* (
  life: Life,
  run: FakeRun,
  where: { readonly stream: OutputStream; readonly from: number },
): AsyncIterable<OutputChunk> {
  await whileAlive(life, () => run.over.promise);
  let offset = 0;
  for (const bytes of run[where.stream]) {
    const end = offset + bytes.length;
    if (end > where.from)
      yield await whileAlive(life, async () => ({
        offset: Math.max(offset, where.from),
        bytes: bytes.subarray(Math.max(0, where.from - offset)),
      }));
    offset = end;
  }
};
