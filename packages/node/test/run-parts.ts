// Small working slices around the run ring, for its tests.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { taskCreate, type TaskIntent, type UsageTotals } from '@orrery/protocol';
import type { Harness } from '../src/harness/harness.ts';
import { systemClock, type Clock } from '../src/kernel/clock.ts';
import { createMutex } from '../src/kernel/mutex.ts';
import { createIds, type Ids } from '../src/kernel/ids.ts';
import { systemRandom } from '../src/kernel/random.ts';
import type { AttemptSettings, HookName, RunParts } from '../src/run/doors.ts';
import type { Store } from '../src/store/store.ts';
import { accountLimitText } from '../src/run/account-limits.ts';
import { isConversationKept } from '../src/run/conversation.ts';
import { createTasks, type Tasks } from '../src/task/index.ts';
import { whileAlive, type FakeMachine, type Life } from './fake-machine.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const free: UsageTotals = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };

/** State of the slices that outlives a node. */
export type FakeSlices = {
  readonly claimed: Map<string, string>;
  readonly tokens: Set<string>;
  /** Checkouts that were taken back, with the commits. */
  readonly restored: string[];
  places(): readonly string[];
  liveTokens(): readonly string[];
};

const createSlices = (): FakeSlices => {
  const claimed = new Map<string, string>();
  const tokens = new Set<string>();
  return { claimed, tokens, restored: [], places: () => [...claimed.keys()], liveTokens: () => [...tokens] };
};

/** An agent program that prints lines; each line is a text. */
export const lineHarness: Harness = {
  id: 'lines',
  summary: 'prints lines',
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: false,
    systemPrompt: false,
    models: false,
    effort: false,
  },
  screen: null,
  provider: null,
  defaultModel: null,
  pin: null,
  conversations: { folder: '.lines', holds: (path, conversation) => path === conversation, placed: (file) => file },
  session: null,
  launch: ({ prompt, conversation }) => ({
    command: 'lines',
    args: conversation === null ? [] : ['--resume', conversation],
    env: {},
    homeFiles: {},
    input: Buffer.from(prompt),
    closeInput: 'after-input',
    programPaths: [],
  }),
  translator: (from) => {
    let text = '';
    let offset = from.offset;
    let row = (from.state['row'] as number | undefined) ?? 0;
    return {
      push: (bytes) => {
        text += Buffer.from(bytes).toString();
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        offset += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
        const events = lines.map((line) => ({ kind: 'text' as const, row: String(++row), text: line }));
        return { events, offset, state: { row }, conversation: 'c1', settled: false, accepted: true };
      },
      end: ({ exitCode }) => ({
        events: [],
        outcome: {
          kind: 'turn.ended',
          outcome: exitCode === 0 ? 'success' : 'error',
          failure: exitCode === 0 ? null : 'program',
          message: null,
          resetsAt: null,
        },
      }),
    };
  },
};

/** What a task of these tests runs with. */
export const settings: AttemptSettings = {
  harness: 'lines',
  model: null,
  upstream: null,
  effort: null,
  backend: 'fake',
  base: null,
  maxRetries: 3,
  retryPrompt: 'The checks say: {{validation_output}}',
  egress: [],
  ports: [],
  required: [],
  wallMs: 600_000,
  hookMs: 60_000,
  turnMs: 60_000,
  cpuSeconds: null,
  memoryBytes: null,
  processes: null,
  outputBytes: 1_000_000,
  diskBytes: null,
  image: null,
  copy: [],
  cache: [],
  submodules: 'none',
  lfs: 'pointers',
  setup: [],
  memory: [],
};

const project = { id: 'prj_1', name: 'demo', path: '/demo' };

const hooks = new Map<HookName, Uint8Array>(
  (['init', 'before', 'validation', 'after'] as const).map((name) => [name, Buffer.from('#!/bin/sh\n')]),
);

const projectsOf = (life: Life): RunParts['projects'] => ({
  refresh: () => whileAlive<void>(life, async () => undefined),
  resolveBase: () => whileAlive(life, async () => ({ sha: 'a'.repeat(40), name: 'main' })),
  readHooks: () => whileAlive(life, async () => ({ hooks, projectFile: null })),
  listTree: () => whileAlive(life, async () => ({ files: [], modules: [] })),
  readFiles: async function* () {},
});

const workspaceOf = (slices: FakeSlices, life: Life, directory: string): RunParts['workspace'] => ({
  claim: ({ taskId, attempt }) =>
    whileAlive(life, async () => {
      const checkoutId = `${taskId}.${attempt}`;
      slices.claimed.set(checkoutId, taskId);
      return { checkoutId, path: directory, readOnly: [], reads: [] };
    }),
  bringFiles: () => whileAlive(life, async () => []),
  likeFiles: () => whileAlive(life, async () => undefined),
  fillModules: () => whileAlive(life, async () => []),
  fillLfs: () => whileAlive(life, async () => []),
  takeSetup: () => whileAlive(life, async () => null),
  keepSetup: () => whileAlive(life, async () => null),
  forgetSetup: () => whileAlive(life, async () => undefined),
  scratch: () => whileAlive(life, async () => ({ checkoutId: 'scratch', path: directory, readOnly: [], reads: [] })),
  collect: () =>
    whileAlive(life, async () => ({
      headSha: 'b'.repeat(40),
      resultRef: 'refs/orrery/results/x/1',
      filesChanged: 1,
      insertions: 1,
      deletions: 0,
      commits: 1,
      salvageRef: null,
      notes: [],
    })),
  checkoutOf: async () => null,
  salvageOf: async () => null,
  checkpoint: async (_, { owner, name }) => ({
    ...{ ref: `refs/orrery/checkpoints/${owner}/${name}`, sha: 'c'.repeat(40), headSha: 'b'.repeat(40) },
    ...{ branch: 'refs/heads/main', staged: null, notes: [] },
  }),
  dropCheckpoint: async () => undefined,
  restore: async (checkoutId, { point, onSaved }) => {
    await onSaved([{ ref: 'refs/orrery/salvage/x/1' }]);
    slices.restored.push(`${checkoutId} ${point.sha}`);
    return [];
  },
  changeSoFar: () => whileAlive(life, async () => 'modified answer.txt'),
  release: (checkoutId) => whileAlive(life, async () => void slices.claimed.delete(checkoutId)),
  recover: (live) =>
    whileAlive(life, async () => {
      for (const [checkoutId, taskId] of slices.claimed) if (!live.includes(taskId)) slices.claimed.delete(checkoutId);
    }),
});

/** Tasks of these tests work in environments of their own attempts. */
const noNamed: RunParts['named'] = {
  take: () => Promise.reject(new Error('no environment of its own')),
  open: () => Promise.reject(new Error('no environment of its own')),
  giveBack: async () => undefined,
};

const tokensOf = (slices: FakeSlices, life: Life): RunParts['tokens'] => ({
  mint: ({ environmentId }) =>
    whileAlive(life, async () => {
      slices.tokens.add(environmentId);
      return { run: 'run', egress: 'egress' };
    }),
  end: (environmentId) => whileAlive(life, async () => void slices.tokens.delete(environmentId)),
});

/** What never changes in these tests. */
const still = {
  program: async () => null,
  skillFiles: async () => [],
  usageOf: async () => free,
  gatewayFailure: () => null,
  forgetFailure: () => undefined,
  modelQuietMs: () => 300_000,
  budgetRefused: () => false,
  ask: async () => '{"met":true,"reason":"it is"}',
  settle: async () => settings,
  asRoot: false,
  atKillPoint: () => undefined,
  queue: () => ({ parallel: 4, perProject: 4 }),
} satisfies Partial<RunParts>;

type Asked = {
  readonly store: Store;
  readonly directory: string;
  readonly machine: FakeMachine;
  readonly life: Life;
  readonly harness: Harness;
  readonly generation: string;
  readonly slices?: FakeSlices;
  readonly clock?: Clock;
};

/** Everything a run loop needs, on the fake machine, with the given real store. */
export const runParts = async (
  asked: Asked,
): Promise<{
  readonly parts: RunParts;
  readonly tasks: Tasks;
  readonly slices: FakeSlices;
  intent(prompt: string): TaskIntent;
}> => {
  const { store, directory, machine, life, harness, generation, slices = createSlices(), clock = systemClock } = asked;
  const ids = createIds({ clock: systemClock, random: systemRandom });
  const backend = machine.backend(life);
  await mkdir(join(directory, 'environments'), { recursive: true });
  const tasks = tasksOn(asked, ids);
  const parts: RunParts = {
    store,
    clock,
    ids,
    log: silent,
    projects: projectsOf(life),
    workspace: workspaceOf(slices, life, directory),
    tokens: tokensOf(slices, life),
    named: noNamed,
    backend: () => backend,
    backends: () => [backend],
    harness: () => harness,
    ...still,
    trustedProject: async () => ({ trusted: false, name: project.name }),
    imageRules: () => ({ allowedImages: [], allowBuild: false, buildNetwork: false }),
    openScreen: async () => ({ shown: async () => undefined, close: () => undefined }),
    allocatePorts: () => whileAlive(life, async () => ({})),
    removeEnvironment: () => whileAlive(life, async () => undefined),
    removeOwned: () => whileAlive(life, async () => undefined),
    ...placesIn(directory),
    generation,
  };
  return { parts, tasks, slices, intent: (prompt) => taskCreate.parse({ prompt, project: 'demo' }) };
};

/** Where a node keeps what it makes. */
const placesIn = (directory: string) => ({
  environmentsDirectory: join(directory, 'environments'),
  conversationsDirectory: join(directory, 'conversations'),
  memoryDirectory: join(directory, 'memory'),
  memoryTurns: createMutex(),
  brokerSocket: join(directory, 'broker.sock'),
});

const tasksOn = ({ store, harness, directory, clock = systemClock }: Asked, ids: Ids): Tasks => {
  return createTasks({
    store,
    clock,
    ids,
    resolveProject: async () => project,
    resolveEnvironment: async () => null,
    projectsById: async () => new Map([[project.id, project]]),
    admit: async () => ({ harness: harness.id, backend: 'fake', model: null }),
    canCarryOn: () => harness.conversations !== null,
    isConversationKept: (taskId) => isConversationKept(join(directory, 'conversations'), taskId),
    accountLimit: (task) => accountLimitText({ store, clock, harness: () => harness }, task),
    withAgent: async (intent) => ({ intent, kept: null }),
    pullRequestsOf: async () => new Map(),
    checkRoom: () => undefined,
    wake: () => undefined,
    cancelRunning: () => undefined,
  });
};

/** Resolves when a task has ended. */
export const waitForEnd = async (store: Store, taskId: string): Promise<void> => {
  const ended = async (): Promise<boolean> =>
    (await store.ownEvents({ owner: taskId, after: 0, limit: 1000 })).some((event) => event.body.kind === 'task.ended');
  while (!(await ended())) await new Promise((resolve) => setTimeout(resolve, 5));
};
