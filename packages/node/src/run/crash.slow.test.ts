import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from '@orrery/protocol';
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
    return { stdout: `working on it\n${fixed ? 'fixed' : 'tried'}\n`, exitCode: 0 };
  };
};

/** Its turn fails, so the attempt ends without a validation. */
const failing =
  (): FakeProgram =>
  ({ spec }) =>
    'path' in spec ? { stdout: '', exitCode: 0 } : { stdout: 'no idea\n', exitCode: 3 };

/** Cuts the life at the n-th durable write: `before` loses it, `after` keeps it and loses the answer. */
const mortal = (store: Store, life: Life, cut: { readonly at: number; readonly when: 'before' | 'after' }): Store => {
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

const live = async (
  program: () => FakeProgram,
  cut: { readonly at: number; readonly when: 'before' | 'after' } | null,
): Promise<Outcome> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-crash-'));
  const machine = createFakeMachine(program());
  const store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  try {
    const first = createLife();
    let writes = 0;
    const counted: Store = {
      ...store,
      get read() {
        return store.read;
      },
      transaction: (job) => (writes++, store.transaction(job)),
    };
    const one = await runParts({
      store: cut === null ? counted : mortal(store, first, cut),
      directory,
      machine,
      life: first,
      harness: lineHarness,
      generation: 'one',
    });
    const task = await one.tasks.add(one.intent('fix the test'));
    const loop = createRunLoop(one.parts);
    loop.start();
    await Promise.race([first.ended, waitForEnd(store, task.id)]);
    first.end();
    const second = createLife();
    const two = await runParts({
      store,
      directory,
      machine,
      life: second,
      harness: lineHarness,
      generation: 'two',
      slices: one.slices,
    });
    const next = createRunLoop(two.parts);
    await next.recover();
    next.start();
    await waitForEnd(store, task.id);
    await next.drain();
    const events = await store.taskEvents({ taskId: task.id, after: 0, limit: 1000 });
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    return {
      task: await two.tasks.show(task.id),
      machine,
      slices: one.slices,
      log: events.map((event) => timeless(event.body)),
      writes,
    };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
};

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

const timeless = (body: object): unknown => ({ ...body, tookMs: 0 });

const summary = ({ task, machine, slices, log }: Outcome) => ({
  state: task.state,
  attempts: task.attempts,
  validation: task.result?.validation?.output,
  begun: machine.begun,
  written: machine.written,
  open: [...machine.openEnvironments],
  places: slices.places(),
  liveTokens: slices.liveTokens(),
  log,
});

describe('a node that dies at any durable write of an attempt', () => {
  it.each([
    { program: agent, state: 'accepted', prompts: 2 },
    { program: failing, state: 'failed', prompts: 1 },
  ])(
    'reaches the same result ($state), with each prompt sent once, every word kept and nothing left behind',
    async ({ program, state, prompts }) => {
      const whole = await live(program, null);
      const expected = summary(whole);
      expect(expected.state).toBe(state);
      expect(expected.written).toHaveLength(prompts);
      const cuts = Array.from({ length: whole.writes - 1 }, (_, index) => index + 2).flatMap((at) => [
        { at, when: 'before' } as const,
        { at, when: 'after' } as const,
      ]);
      const next = cuts.values();
      const worker = async (): Promise<void> => {
        for (const cut of next) expect({ ...cut, ...summary(await live(program, cut)) }).toEqual({ ...cut, ...expected });
      };
      await Promise.all(Array.from({ length: 8 }, worker));
    },
    240_000,
  );
});
