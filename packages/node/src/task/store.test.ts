import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { taskStates, type TaskState } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { findTask, insertTask, updateTask } from './store.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-task-'));
  store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const insert = (id: string, state: TaskState): Promise<void> =>
  store.transaction((tx) =>
    insertTask(tx.db, {
      id,
      request_id: `req_${id}`,
      intent_hash: '',
      intent: '{}',
      state,
      waiting_for: null,
      verdict: null,
      cause: null,
      reason: null,
      project_id: null,
      harness: 'pi',
      model: null,
      backend: 'sandbox',
      continues: null,
      environment_id: null,
      series: null,
      cancel_requested: 0,
      result: null,
      applied_at: null,
      created_at: 1,
      started_at: null,
      ended_at: null,
    }),
  );

const moved = async (from: TaskState, to: TaskState): Promise<boolean> => {
  const id = `tsk_${from}_${to}`;
  await insert(id, from);
  const code = await store
    .transaction((tx) => updateTask(tx.db, id, { state: to, reason: 'moved' }))
    .then(() => null)
    .catch((thrown: { code?: string }) => thrown.code);
  const row = await findTask(store.read, id);
  expect({ code, state: row?.state, reason: row?.reason }).toEqual(
    code === null ? { code, state: to, reason: 'moved' } : { code: 'conflict', state: from, reason: null },
  );
  return code === null;
};

describe('a task’s state', () => {
  it('changes along these moves alone; any other is refused and changes nothing', async () => {
    const seen: Record<string, TaskState[]> = {};
    for (const from of taskStates) {
      seen[from] = [];
      for (const to of taskStates) if (await moved(from, to)) seen[from].push(to);
    }
    const ends = ['accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'];
    expect(Object.fromEntries(Object.entries(seen).map(([from, to]) => [from, new Set(to)]))).toEqual({
      queued: new Set(['waiting', 'running', 'cancelled', 'failed']),
      waiting: new Set(['queued', 'running', ...ends]),
      running: new Set(['waiting', ...ends]),
      limit: new Set(['queued', 'cancelled']),
      interrupted: new Set(['queued', 'cancelled']),
      accepted: new Set(),
      rejected: new Set(),
      failed: new Set(),
      cancelled: new Set(),
    });
  });

  it('is not needed to change anything else of a task', async () => {
    await insert('tsk_ended', 'accepted');
    await store.transaction((tx) => updateTask(tx.db, 'tsk_ended', { applied_at: 5 }));
    expect(await findTask(store.read, 'tsk_ended')).toMatchObject({ state: 'accepted', applied_at: 5 });
  });
});
