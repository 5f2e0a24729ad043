// Small valid specs for tests: each test overrides what it is about.
import type { EnvironmentSpec, RunSpec } from '../../src/exec/backend.ts';
import type { RenderInput } from '../../src/exec/keeper-spec.ts';

export const sampleEnvironment = (over: Partial<EnvironmentSpec> = {}): EnvironmentSpec => ({
  id: 'env-1',
  taskId: 'task-1',
  workdir: '/w/checkout',
  home: '/w/home',
  scratchpad: '/w/tmp',
  grants: [],
  readOnly: [],
  ports: { connect: [], bind: [], egress: [] },
  limits: { wallMs: 60_000, outputBytes: 1_000_000 },
  required: [],
  brokerSocket: '/d/broker.sock',
  project: null,
  image: null,
  ...over,
});

export const sampleRun = (over: Partial<RunSpec> = {}): RunSpec => ({
  command: 'sh',
  args: ['-c', 'true'],
  cwd: '/w/checkout',
  grants: [],
  env: {},
  envPassthrough: [],
  stdio: 'piped',
  limits: { wallMs: 10_000, outputBytes: 500_000 },
  label: 'a test',
  runId: 'run-1',
  ...over,
});

/** Everything rendering needs, on a disk where every path exists and is itself. */
export const sampleRender = (over: Partial<RenderInput> = {}): RenderInput => ({
  environment: sampleEnvironment(),
  run: sampleRun(),
  machine: {
    variables: { PATH: '/machine/bin', HOME: '/home/someone', LANG: 'de_DE.UTF-8', NODE_SECRET_TOKEN: 'canary' },
    user: 'someone',
  },
  disk: { exists: () => true, real: (path) => path },
  fence: { notAround: ['/d'], notInside: '/d/exec', except: '/d/exec/sandbox/env-1/provided' },
  front: { port: 7777, brokerHoldMs: 1000, brokerHoldMax: 8 },
  ...over,
});
