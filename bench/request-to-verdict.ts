import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { gitIn, largeRepository } from '../packages/testkit/src/git-shapes.ts';
import type { OrreryEvent } from '../packages/protocol/src/index.ts';
import { runBare } from './bare-program.ts';
import { atMostOver, atMostTimes, spreadOf, takeTurns, timed, type Benchmark, type Row } from './benchmark.ts';
import { countCommits } from './commits.ts';
import { cancelAll, commandTask, endKeepers, startNode, startWaiting, type RealNode } from './real-node.ts';

const FILES = 1_000;

type Stage = { readonly stage: string; readonly tookMs: number };

/** One task as its client sees it. */
type Sample = {
  /** From the moment the request was accepted until the verdict was read, ms. */
  readonly accepted: number;
  /** From the moment the request was sent. */
  readonly sent: number;
  readonly commits: number;
  readonly stages: readonly Stage[];
};

const stagesOf = (events: readonly OrreryEvent[]): Stage[] =>
  events.flatMap(({ body }) => (body.kind === 'stage.ended' ? [{ stage: body.stage, tookMs: body.tookMs }] : []));

const runTask = async (node: RealNode, given: { readonly project: string; readonly backend: string }): Promise<Sample> => {
  const commits = countCommits(node.database);
  const sentAt = performance.now();
  const { id } = await node.client.call('taskAdd', { body: commandTask(['/bin/true'], given) });
  const acceptedAt = performance.now();
  const events: OrreryEvent[] = [];
  const reading = new AbortController();
  let endedAt = Number.NaN;
  for await (const event of node.client.taskEvents(id, { signal: reading.signal })) {
    events.push(event);
    if (event.body.kind !== 'task.ended') continue;
    endedAt = performance.now();
    if (event.body.verdict !== 'accepted') throw new Error(`the task was not accepted: ${event.body.reason}`);
    reading.abort();
  }
  return {
    accepted: endedAt - acceptedAt,
    sent: endedAt - sentAt,
    commits: countCommits(node.database) - commits,
    stages: stagesOf(events),
  };
};

/** What the slots of a project do now, read beside the node. */
const openSlots = (node: RealNode, project: string) => {
  const db = new Database(node.database, { readonly: true });
  const count = db.prepare(
    "SELECT count(*) FILTER (WHERE state = 'ready') AS ready, count(*) FILTER (WHERE state <> 'ready') AS busy FROM checkout WHERE project_id = ? AND kind = 'slot'",
  );
  const look = (): { readonly ready: number; readonly busy: number } => count.get(project) as { ready: number; busy: number };
  return {
    look,
    /** Waits until the slots that tasks left are clean again. */
    untilReady: async (): Promise<void> => {
      for (let waited = 0; waited < 30_000; waited += 20) {
        const { ready, busy } = look();
        if (ready > 0 && busy === 0) return;
        await sleep(20);
      }
      throw new Error('no slot became ready');
    },
    close: () => db.close(),
  };
};

type Slots = ReturnType<typeof openSlots>;

const plainCheckout = async (repository: string, target: string): Promise<number> => {
  const took = await timed(async () => {
    gitIn('/', 'clone', '-q', '--shared', '--no-checkout', repository, target);
    gitIn(target, 'checkout', '-q', 'HEAD');
    await runBare('/bin/true', []);
  });
  rmSync(target, { recursive: true });
  return took;
};

const worktree = async (repository: string, target: string): Promise<number> => {
  const took = await timed(async () => {
    gitIn(repository, 'worktree', 'add', '-q', '--detach', target, 'HEAD');
    await runBare('/bin/true', []);
  });
  gitIn(repository, 'worktree', 'remove', '--force', target);
  return took;
};

type Place = { readonly project: string; readonly backend: string };

const warmTask = async (node: RealNode, slots: Slots, place: Place): Promise<Sample> => {
  await slots.untilReady();
  return runTask(node, place);
};

/** A task that finds no ready slot: others hold them all. */
const coldTask = async (node: RealNode, slots: Slots, place: Place): Promise<Sample> => {
  await slots.untilReady();
  const holders: string[] = [];
  while (slots.look().ready > 0) holders.push(...(await startWaiting(node, 1, place)));
  const sample = await runTask(node, place);
  await cancelAll(node, holders);
  return sample;
};

/** Median of each stage, and what of the whole no stage has. */
const breakdown = (what: string, samples: readonly Sample[]): string => {
  const names = [...new Set(samples.flatMap(({ stages }) => stages.map(({ stage }) => stage)))];
  const of = (sample: Sample, name: string): number =>
    sample.stages.filter(({ stage }) => stage === name).reduce((sum, { tookMs }) => sum + tookMs, 0);
  const stages = names.map((name) => `${name} ${Math.round(spreadOf(samples.map((sample) => of(sample, name))).median)}`);
  const rest = spreadOf(samples.map((sample) => sample.accepted - sample.stages.reduce((sum, { tookMs }) => sum + tookMs, 0)));
  const commits = spreadOf(samples.map((sample) => sample.commits)).median;
  return `${what}: ${stages.join(', ')}, outside of stages ${Math.round(rest.median)} ms (medians); ${commits} durable commits.`;
};

/** One transaction of a row that is on the disk before it returns: what each of a task's commits costs at least. */
const commitMs = (directory: string): number => {
  const db = new Database(join(directory, 'commit.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
  const samples = Array.from({ length: 50 }, () => {
    const from = performance.now();
    insert.run('x'.repeat(600));
    return performance.now() - from;
  });
  db.close();
  return spreadOf(samples).median;
};

const measure = async (node: RealNode, { directory, rounds }: { directory: string; rounds: number }) => {
  const { root: repository } = largeRepository(directory, FILES);
  const { id: project } = await node.client.call('projectAdd', { body: { source: repository } });
  const slots = openSlots(node, project);
  let count = 0;
  const fresh = (): string => join(directory, `c${count++}`);
  try {
    await runTask(node, { project, backend: 'local' });
    const warm = await takeTurns(rounds, {
      program: async () => (await runBare('/bin/true', [])).ended,
      local: () => warmTask(node, slots, { project, backend: 'local' }),
      sandbox: () => warmTask(node, slots, { project, backend: 'sandbox' }),
    });
    const cold = await takeTurns(Math.max(1, Math.ceil(rounds / 4)), {
      checkout: () => plainCheckout(repository, fresh()),
      worktree: () => worktree(repository, fresh()),
      local: () => coldTask(node, slots, { project, backend: 'local' }),
      sandbox: () => coldTask(node, slots, { project, backend: 'sandbox' }),
    });
    return { warm, cold };
  } finally {
    slots.close();
  }
};

/** From an accepted request to the verdict, with a program that does nothing. */
export const requestToVerdict: Benchmark = {
  name: 'request-to-verdict',
  title: `a task (harness command, /bin/true, ${FILES.toLocaleString('en')} files) from its accepted request to its verdict`,
  rounds: 20,
  run: async ({ directory, rounds }) => {
    const place = join(directory, 'n');
    mkdirSync(place);
    const node = await startNode({ directory: place, config: { queue: { parallel: 8, perProject: 8 } } });
    try {
      const { warm, cold } = await measure(node, { directory, rounds });
      const row = (
        what: string,
        samplesMs: readonly number[],
        [name, bareMs]: readonly [string, readonly number[]],
      ): Omit<Row, 'goal'> => ({ what, unit: 'ms', ours: spreadOf(samplesMs), bare: spreadOf(bareMs), against: name });
      const accepted = (samples: readonly Sample[]): number[] => samples.map((sample) => sample.accepted);
      const sent = (samples: readonly Sample[]): number[] => samples.map((sample) => sample.sent);
      const program = ['/bin/true', warm.program] as const;
      const checkout = ['clone --shared, checkout, /bin/true', cold.checkout] as const;
      const worktreeAdd = ['worktree add, /bin/true', cold.worktree] as const;
      return {
        rows: [
          atMostOver(row('warm slot, local', accepted(warm.local), program), 120),
          atMostOver(row('warm slot, sandbox', accepted(warm.sandbox), program), 120),
          { ...row('warm slot, sandbox, from the sent request', sent(warm.sandbox), program), goal: null },
          atMostTimes(row('cold, local', accepted(cold.local), checkout), 3),
          atMostTimes(row('cold, sandbox', accepted(cold.sandbox), checkout), 3),
          { ...row('cold, sandbox', accepted(cold.sandbox), worktreeAdd), goal: null },
        ],
        notes: [
          breakdown('warm, local', warm.local),
          breakdown('warm, sandbox', warm.sandbox),
          breakdown('cold, local', cold.local),
          breakdown('cold, sandbox', cold.sandbox),
          `One durable commit of one row by the raw driver: ${commitMs(directory).toFixed(2)} ms.`,
        ],
      };
    } finally {
      await node.stop();
      endKeepers(directory);
    }
  },
};
