import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryError, Task, TaskIntent } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFakeMachine, createLife, type FakeMachine } from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd } from '../../test/run-parts.ts';
import type { Harness } from '../harness/harness.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Tasks } from '../task/index.ts';
import { liftLimits } from './account-limits.ts';
import { createRunLoop, type RunLoop } from './loop.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let directory: string;
let store: Store;
let machine: FakeMachine;
let tasks: Tasks;
let intent: (prompt: string) => TaskIntent;
let loops: RunLoop[] = [];

/** The wall clock of the machine is set forward by so much. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };
const HOUR_MS = 3_600_000;

/** One start of the node; it takes one task at a time, so that the order of beginnings is seen. */
const start = async (generation: string): Promise<RunLoop> => {
  const made = await runParts({ store, directory, machine, life: createLife(), harness: lineHarness, generation, clock });
  [tasks, intent] = [made.tasks, made.intent];
  const loop = createRunLoop({ ...made.parts, queue: () => ({ parallel: 1, perProject: 1 }) });
  loops.push(loop);
  return loop;
};

let loop: RunLoop;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-waiting-'));
  store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  machine = createFakeMachine(({ spec, input }) =>
    'path' in spec ? { stdout: '', exitCode: 0 } : { stdout: 'done\n', exitCode: input.includes('fails') ? 3 : 0 },
  );
  loop = await start('one');
});
afterEach(async () => {
  for (const one of loops) await one.drain();
  loops = [];
  aheadMs = 0;
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const add = (prompt: string, more: Partial<TaskIntent> = {}): Promise<Task> => tasks.add({ ...intent(prompt), ...more });
const end = async (id: string): Promise<Task> => {
  await waitForEnd(store, id);
  return tasks.show(id);
};
const run = async (...ids: string[]): Promise<Task[]> => {
  loop.start();
  return Promise.all(ids.map(end));
};
const prompts = (): string[] => machine.written.slice();
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (thrown: unknown) => (thrown as OrreryError).code,
  );

describe('the queue', () => {
  it('begins the highest priority first, and among equals the oldest', async () => {
    const ids = [];
    for (const [prompt, priority] of [
      ['a', 10],
      ['b', 10],
      ['c', 90],
      ['d', 0],
      ['e', 10],
    ] as const)
      ids.push((await add(prompt, { priority })).id);
    expect((await tasks.show(ids[3]!)).waitingFor).toBe('4 tasks before it');
    await run(...ids);
    expect(prompts()).toEqual(['c', 'a', 'b', 'e', 'd']);
  });
});

describe('a task that depends on others', () => {
  it('waits, says for what, and begins when all of them are accepted', async () => {
    const [one, two] = [await add('one'), await add('two')];
    const last = await add('last', { dependsOn: [one.id, two.id.slice(0, -1), one.id], priority: 90 });
    expect([last.state, last.waitingFor, last.dependsOn]).toEqual([
      'waiting',
      `tasks ${one.id} (queued), ${two.id} (queued)`,
      [one.id, two.id],
    ]);
    const done = await run(one.id, two.id, last.id);
    expect(done.map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(prompts()).toEqual(['one', 'two', 'last']);
    expect((await add('more', { dependsOn: [one.id] })).state).toBe('queued');
  });

  it('fails with the reason when one of them can no longer be accepted, and so does what depends on it', async () => {
    const one = await add('this fails');
    const two = await add('two', { dependsOn: [one.id] });
    const three = await add('three', { dependsOn: [two.id] });
    const [, second, third] = await run(one.id, two.id, three.id);
    expect([second?.state, second?.cause, second?.reason]).toEqual([
      'failed',
      'dependency',
      `Task ${one.id}, which it depends on, failed.`,
    ]);
    expect([third?.cause, third?.reason]).toEqual(['dependency', `Task ${two.id}, which it depends on, failed.`]);
    expect(prompts()).toEqual(['this fails']);
    expect(await codeOf(add('late', { dependsOn: [one.id] }))).toBe('conflict');
    expect(await codeOf(add('unknown', { dependsOn: ['tsk_unknown'] }))).toBe('not_found');
    expect(await codeOf(tasks.retry(two.id, undefined))).toBe('conflict');
  });

  it('fails when one of them is cancelled before it began; a cancelled one waits for nothing any more', async () => {
    const one = await add('one');
    const two = await add('two', { dependsOn: [one.id] });
    const three = await add('three', { dependsOn: [one.id] });
    await tasks.cancel(three.id);
    await tasks.cancel(one.id);
    expect([(await tasks.show(two.id)).reason, (await tasks.show(three.id)).state]).toEqual([
      `Task ${one.id}, which it depends on, was cancelled.`,
      'cancelled',
    ]);
    expect(await store.read.selectFrom('task_wait').selectAll().execute()).toEqual([]);
    expect(await store.read.selectFrom('queue_entry').selectAll().execute()).toEqual([]);
  });
});

describe('a task that is not to begin before an instant', () => {
  it('waits until then, also under another start of the node, and holds nobody up', async () => {
    const at = new Date(Date.now() + HOUR_MS).toISOString();
    const later = await add('later', { notBefore: at, priority: 90 });
    expect([later.state, later.waitingFor, later.notBefore]).toEqual(['waiting', `its time, ${at}`, at]);
    const first = await add('first');
    const passed = await add('passed', { notBefore: new Date(Date.now() - 1_000).toISOString() });
    await run(first.id, passed.id);
    await loop.drain();
    aheadMs = HOUR_MS;
    loop = await start('two');
    const [done] = await run(later.id);
    expect([done?.verdict, Date.parse(done?.startedAt ?? '') >= Date.parse(at)]).toEqual(['accepted', true]);
    expect(prompts()).toEqual(['first', 'passed', 'later']);
    const states = (await store.ownEvents({ owner: later.id, after: 0, limit: 100 })).flatMap(({ body }) =>
      body.kind === 'task.state' ? [body.state] : [],
    );
    expect(states).toEqual(['waiting', 'queued', 'running', 'accepted']);
  });
});

describe('a series', () => {
  it('runs its tasks one after another, each on from the one before it', async () => {
    const one = await add('one', { series: 'steps' });
    const other = await add('other', { series: 'others' });
    const two = await add('two', { series: 'steps', priority: 90 });
    const three = await add('three', { series: 'steps', priority: 99 });
    expect([one.continues, two.continues, three.continues, other.continues]).toEqual([null, one.id, two.id, null]);
    expect([two.waitingFor, three.waitingFor]).toEqual([`task ${one.id} (queued)`, `task ${two.id} (waiting)`]);
    const done = await run(one.id, two.id, three.id, other.id);
    expect(done.map(({ verdict, reason }) => verdict ?? reason)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
    expect(prompts().filter((prompt) => prompt !== 'other')).toEqual(['one', 'two', 'three']);
    expect((await tasks.list({ limit: 10, series: 'steps' })).items.map(({ id }) => id)).toEqual([three.id, two.id, one.id]);
  });

  it('stops at a task that fails; the next one that is added goes on from the last that was accepted', async () => {
    const one = await add('one', { series: 'steps' });
    const two = await add('this fails', { series: 'steps' });
    const three = await add('three', { series: 'steps' });
    await run(one.id, two.id, three.id);
    expect((await tasks.show(three.id)).reason).toBe(`Task ${two.id}, the one before it in its series, failed.`);
    const four = await add('four', { series: 'steps' });
    expect([four.continues, four.state]).toEqual([one.id, 'queued']);
    expect(await codeOf(add('five', { series: 'steps', base: 'main' }))).toBe('invalid_input');
    expect(await codeOf(add('six', { series: 'steps', continues: one.id }))).toBe('invalid_input');
    expect(await codeOf(add('seven', { series: 'steps', project: null }))).toBe('invalid_input');
  });
});

describe('a usage limit', () => {
  const resetsAtMs = Date.now() + HOUR_MS;
  const usedUp = { kind: 'turn.ended', outcome: 'limit', failure: 'usage_limit', message: 'used up' } as const;
  /** Says `limit` as long as its hour has not come, and counts what ran. */
  const limited: Harness = {
    ...lineHarness,
    translator: (from) => {
      const made = lineHarness.translator(from);
      return {
        ...made,
        end: (end) =>
          clock.nowMs() < resetsAtMs && !generous
            ? { events: [], outcome: { ...usedUp, resetsAt: told ? new Date(resetsAtMs).toISOString() : null } }
            : made.end(end),
      };
    },
  };
  let generous = false;
  let told = true;
  let parts: Awaited<ReturnType<typeof runParts>>['parts'];
  beforeEach(async () => {
    [generous, told] = [false, true];
    const made = await runParts({ store, directory, machine, life: createLife(), harness: limited, generation: 'two', clock });
    [tasks, intent, parts] = [made.tasks, made.intent, made.parts];
    loop = createRunLoop({ ...parts, queue: () => ({ parallel: 1, perProject: 1 }) });
    loops.push(loop);
  });
  const stateOf = async (id: string) => {
    const { state, waitingFor, attempts } = await tasks.show(id);
    return [state, waitingFor, attempts];
  };
  const waits = `the usage limit of lines/own, until ${new Date(resetsAtMs).toISOString()}`;

  it('keeps every task of the account from beginning, and ends by itself for the one that met it, too', async () => {
    const met = await add('a');
    const behind = await add('b');
    await run(met.id);
    expect(await stateOf(met.id)).toEqual(['limit', waits, 1]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([await stateOf(behind.id), prompts()]).toEqual([['queued', waits, 0], ['a']]);
    expect(await liftLimits(parts)).toEqual([]);
    aheadMs = HOUR_MS + 1_000;
    expect(await liftLimits(parts)).toEqual(['lines/own']);
    loop.wake();
    await end(behind.id);
    await vi.waitFor(async () => expect((await stateOf(met.id))[0]).toBe('accepted'), { timeout: 20_000 });
    expect(prompts().toSorted()).toEqual(['a', 'a', 'b']);
  });

  it('of which nobody said when it ends is tried by one task, and the others follow when that one succeeded', async () => {
    told = false;
    const met = await add('a');
    const behind = await add('b');
    await add('c');
    await run(met.id);
    aheadMs = HOUR_MS + 1_000;
    // The first one that may be claimed goes, although another one is met by the limit longer.
    expect(await liftLimits(parts)).toEqual(['lines/own']);
    loop.wake();
    await end(behind.id);
    await vi.waitFor(async () => expect(await liftLimits(parts)).toEqual(['lines/own']), { timeout: 20_000 });
    expect(prompts()).toEqual(['a', 'b']);
    loop.wake();
    await vi.waitFor(() => expect(prompts().toSorted()).toEqual(['a', 'a', 'b', 'c']), { timeout: 20_000 });
  });

  it('holds up no task that a person tries again', async () => {
    const met = await add('a');
    const behind = await add('b');
    await run(met.id);
    generous = true;
    await tasks.retry(met.id, undefined);
    loop.wake();
    await vi.waitFor(async () => expect((await stateOf(met.id))[0]).toBe('accepted'));
    // Its success is the proof: what waited for the limit goes on.
    expect(await liftLimits(parts)).toEqual(['lines/own']);
    loop.wake();
    expect((await end(behind.id)).state).toBe('accepted');
  });
});
