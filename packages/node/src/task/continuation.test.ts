import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError, taskCreate, type Task, type TaskCreate, type TaskState } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { systemRandom } from '../kernel/random.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { dequeue } from '../queue/index.ts';
import { insertAttempt } from './attempt-store.ts';
import { intentOf } from './model.ts';
import { createTasks, type Tasks } from './service.ts';
import { findTask, updateTask } from './store.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const projects = ['one', 'two'].map((name) => ({ id: `prj_${name}`, name, path: `/${name}` }));

let directory: string;
let store: Store;
let tasks: Tasks;
let kept = true;
let named = true;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-continuation-'));
  store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  [kept, named] = [true, true];
  tasks = createTasks({
    store,
    clock: systemClock,
    ids: createIds({ clock: systemClock, random: systemRandom }),
    resolveProject: async (reference) => projects.find(({ id, name }) => id === reference || name === reference)!,
    resolveEnvironment: async (reference) =>
      named ? { id: reference, name: 'named', project_id: 'prj_one', backend: 'sandbox', image_asked: null } : null,
    projectsById: async () => new Map(projects.map((project) => [project.id, project])),
    admit: async ({ harness = 'claude', backend = 'sandbox', model = 'm1' }) => ({ harness, backend, model }),
    canCarryOn: (harness) => harness !== 'command',
    isConversationKept: () => kept,
    withAgent: async (intent) => ({ intent, kept: null }),
    pullRequestsOf: async () => new Map(),
    checkRoom: () => undefined,
    wake: () => undefined,
    accountLimit: async () => null,
    cancelRunning: () => undefined,
  });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const add = (more: Partial<TaskCreate> = {}): Promise<Task> =>
  tasks.add(taskCreate.parse({ prompt: 'do it', project: 'one', ...more }));

/** A task that has ended so, with or without a conversation. */
const ended = async (
  more: Partial<TaskCreate> = {},
  { state = 'accepted', conversation = 'c1' as string | null } = {},
): Promise<string> => {
  const { id } = await add(more);
  await store.transaction(async (tx) => {
    await dequeue(tx.db, id, null);
    await updateTask(tx.db, id, { state: 'running' });
    const none = { environment_id: null, verdict: null, cause: null, reason: null, ended_at: 1 };
    const row = { id: `att_${id}`, task_id: id, number: 1, backend: 'sandbox', guarantees: '[]', progress: '{}', started_at: 1 };
    await insertAttempt(tx.db, { ...row, ...none, conversation });
    await updateTask(tx.db, id, { state: state as TaskState, ended_at: Date.now() });
  });
  return id;
};

const refusal = async (work: Promise<unknown>): Promise<[string, string]> => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  return thrown instanceof OrreryError ? [thrown.code, thrown.message] : ['none', ''];
};

describe('a task that continues another', () => {
  it('takes over project, program, model and backend of the one before it, and is found again by its request', async () => {
    const before = await ended({ harness: 'pi', model: 'm7', backend: 'docker' });
    const asked = { project: null, continues: before.slice(0, 12), requestId: 'req_again' };
    const task = await add(asked);
    expect([task.project?.id, task.harness, task.model, task.backend, task.continues]).toEqual([
      'prj_one',
      'pi',
      'm7',
      'docker',
      before,
    ]);
    expect((await add(asked)).id).toBe(task.id);
    expect((await tasks.retry(await ended({ continues: before }, { state: 'failed' }), undefined)).continues).toBe(before);
  });

  it.each(['accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'])(
    'may continue one that is %s',
    async (state) => {
      const before = await ended({}, { state });
      expect((await add({ continues: before })).continues).toBe(before);
    },
  );

  it('works in the environment of the one before it while nobody else worked there', async () => {
    const before = await ended({ environment: 'env_1' });
    const inIt = async (): Promise<string | undefined> =>
      (JSON.parse((await tasks.find((await add({ continues: before })).id)).intent) as TaskCreate).environment;
    named = false;
    expect(await inIt()).toBe(undefined);
    named = true;
    expect(await inIt()).toBe('env_1');
    expect(await inIt()).toBe(undefined);
  });

  it('is refused with what is in the way', async () => {
    const before = await ended();
    const running = await add();
    const without = await ended({}, { conversation: null });
    const command = await ended({ harness: 'command', command: ['true'] });
    const scratch = await ended({ project: null });
    const cases: readonly (readonly [Partial<TaskCreate>, string, string])[] = [
      [{ continues: 'tsk_nothing' }, 'not_found', 'There is no task'],
      [{ continues: running.id }, 'busy', 'has not ended: it is queued'],
      [{ continues: without }, 'unsupported', 'ended before its agent began'],
      [{ continues: command }, 'unsupported', 'has no conversation'],
      [{ continues: scratch, project: null }, 'unsupported', 'scratch folder'],
      [{ continues: before, project: 'two' }, 'unsupported', 'another project'],
      [{ continues: before, harness: 'codex' }, 'unsupported', 'is one of claude'],
      [{ continues: before, base: 'main' }, 'invalid_input', '--base'],
      [{ environment: 'env_1', image: 'debian:12' }, 'invalid_input', '--image'],
      [{ continues: before, environment: 'env_1' }, 'invalid_input', '--env'],
    ];
    for (const [more, code, words] of cases) expect(await refusal(add(more))).toEqual([code, expect.stringContaining(words)]);
    kept = false;
    expect(await refusal(add({ continues: before }))).toEqual(['unsupported', expect.stringContaining('is not kept')]);
  });

  it('runs in the image that the one before it asked for, on the same backend, unless it asks for another', async () => {
    const before = await ended({ image: 'debian:12' });
    named = false;
    const imageOf = async (more: Partial<TaskCreate>): Promise<string | undefined> => {
      const { id } = await add({ continues: before, ...more });
      return intentOf((await findTask(store.read, id))!).image;
    };
    expect([await imageOf({}), await imageOf({ image: 'debian:13' }), await imageOf({ backend: 'docker' })]).toEqual([
      'debian:12',
      'debian:13',
      undefined,
    ]);
  });
});
