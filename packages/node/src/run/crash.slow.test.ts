import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task, TaskIntent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import {
  createFakeMachine,
  createLife,
  whileAlive,
  type FakeMachine,
  type FakeProgram,
  type Life,
} from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd, type FakeSlices } from '../../test/run-parts.ts';
import { systemClock } from '../kernel/clock.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createRunLoop } from './loop.ts';

/** First turn fails validation, the second passes; the work place remembers what the agent did. */
const agent = (): FakeProgram => {
  let fixed = false;
  return ({ spec, input }) => {
    if ('path' in spec) {
      if (spec.label !== 'validation.sh') return { stdout: `${spec.label} ran\n`, exitCode: 0 };
      return fixed ? { stdout: 'all tests pass\n', exitCode: 0 } : { stdout: 'one test fails\n', exitCode: 1 };
    }
    fixed = input.includes('one test fails');
    return { stdout: `working on it\n${fixed ? '"fixed"' : '"tried"'}\n`, exitCode: 0 };
  };
};

/** Its turn fails, so the attempt ends without a validation. */
const failing =
  (): FakeProgram =>
  ({ spec }) =>
    'path' in spec ? { stdout: '', exitCode: 0 } : { stdout: 'no idea\n', exitCode: 3 };

/** Remembers its conversation in its home, as agent programs do. */
const remembering = (): FakeProgram => {
  let said = '';
  return ({ spec, input, home }) => {
    if ('path' in spec) return { stdout: '', exitCode: 0 };
    said += `${spec.args.join(' ')}: ${input}; `;
    mkdirSync(join(home, '.lines'), { recursive: true });
    writeFileSync(join(home, '.lines/c1'), said);
    return { stdout: `${said}\n`, exitCode: 0 };
  };
};

type Cut = { readonly at: number; readonly when: 'before' | 'after' };

/** Cuts the life at the n-th durable write: `before` loses it, `after` keeps it and loses the answer. */
const mortal = (store: Store, life: Life, cut: Cut): Store => {
  let writes = 0;
  return {
    ...store,
    get read() {
      return store.read;
    },
    transaction: (job) =>
      whileAlive(life, async () => {
        const dies = ++writes === cut.at;
        if (dies && cut.when === 'before') life.end();
        if (life.dead) return new Promise(() => undefined);
        const done = await store.transaction(job);
        if (dies) life.end();
        return done;
      }),
  };
};

type Outcome = {
  readonly task: Task;
  readonly machine: FakeMachine;
  readonly slices: FakeSlices;
  readonly log: readonly unknown[];
  readonly writes: number;
};

type World = {
  readonly store: Store;
  readonly directory: string;
  readonly machine: FakeMachine;
  readonly series: boolean;
  readonly more: Partial<TaskIntent>;
};

/** A store that counts its durable writes. */
const counting = (store: Store): { readonly store: Store; readonly writes: () => number } => {
  let writes = 0;
  const counted: Store = {
    ...store,
    get read() {
      return store.read;
    },
    transaction: (job) => (writes++, store.transaction(job)),
  };
  return { store: counted, writes: () => writes };
};

/** The first life of a node: it takes a task and runs it until it dies, or to its end. */
const liveFirst = async (world: World, cut: Cut | null): Promise<Pick<Outcome, 'slices' | 'writes'> & { taskId: string }> => {
  const life = createLife();
  const counted = counting(world.store);
  const store = cut === null ? counted.store : mortal(world.store, life, cut);
  const { parts, tasks, slices, intent } = await runParts({ ...world, store, life, harness: lineHarness, generation: 'one' });
  const series = world.series ? 'steps' : undefined;
  if (world.series) await tasks.add({ ...intent('begin'), series });
  const task = await tasks.add({ ...intent('fix the test'), ...world.more, series });
  createRunLoop(parts).start();
  await Promise.race([life.ended, waitForEnd(world.store, task.id)]);
  life.end();
  return { taskId: task.id, slices, writes: counted.writes() };
};

/** The second life: it recovers and brings the task to its end. */
const liveAgain = async (world: World, { taskId, slices }: { taskId: string; slices: FakeSlices }): Promise<Task> => {
  const life = createLife();
  const { parts, tasks } = await runParts({ ...world, life, harness: lineHarness, generation: 'two', slices });
  const loop = createRunLoop(parts);
  await loop.recover();
  loop.start();
  await waitForEnd(world.store, taskId);
  await loop.drain();
  return tasks.show(taskId);
};

const live = async ({ program, series = false, more = {} }: Case, cut: Cut | null): Promise<Outcome> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-crash-'));
  const machine = createFakeMachine(program());
  const store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  try {
    const world = { store, directory, machine, series, more };
    const { taskId, slices, writes } = await liveFirst(world, cut);
    const task = await liveAgain(world, { taskId, slices });
    const events = await store.ownEvents({ owner: taskId, after: 0, limit: 1000 });
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    return { task, machine, slices, log: events.map((event) => timeless(event.body)), writes };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
};

type Case = { readonly program: () => FakeProgram; readonly series?: boolean; readonly more?: Partial<TaskIntent> };

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

/** Times and ids are others each time. */
const timeless = (body: object): unknown =>
  JSON.parse(JSON.stringify({ ...body, tookMs: 0 }).replaceAll(/tsk_[0-9a-z]+/g, 'tsk'));

const summary = ({ task, machine, slices, log }: Outcome) => ({
  state: task.state,
  attempts: task.attempts,
  validation: task.result?.validation?.output,
  output: task.result?.output,
  begun: machine.begun,
  written: machine.written,
  homeFiles: [...machine.homeFiles],
  open: [...machine.openEnvironments],
  places: slices.places(),
  liveTokens: slices.liveTokens(),
  log,
});

describe('a node that dies at any durable write of an attempt', () => {
  it.each([
    { program: agent, state: 'accepted', prompts: 2, more: { outputSchema: { enum: ['fixed', 'tried'] }, goal: 'it is fixed' } },
    { program: failing, state: 'failed', prompts: 1 },
    { program: remembering, state: 'accepted', prompts: 2, series: true },
  ])(
    'reaches the same result ($state), with each prompt sent once, every word kept and nothing left behind',
    async ({ state, prompts, ...given }) => {
      const whole = await live(given, null);
      const expected = summary(whole);
      expect(expected.state).toBe(state);
      if ('series' in given) expect(expected.homeFiles).toEqual([['.lines/c1', ': begin; ']]);
      if ('series' in given) expect(JSON.stringify(expected.log)).toContain('--resume c1: fix the test');
      expect(expected.written).toHaveLength(prompts);
      // The first writes queue the tasks.
      const first = 'series' in given ? 3 : 2;
      const cuts = Array.from({ length: whole.writes - first + 1 }, (_, index) => index + first).flatMap((at) => [
        { at, when: 'before' } as const,
        { at, when: 'after' } as const,
      ]);
      const next = cuts.values();
      const worker = async (): Promise<void> => {
        for (const cut of next) expect({ ...cut, ...summary(await live(given, cut)) }).toEqual({ ...cut, ...expected });
      };
      await Promise.all(Array.from({ length: 8 }, worker));
    },
    600_000,
  );
});
