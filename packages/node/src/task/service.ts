import { OrreryError, type OperationCall, type Task, type TaskIntent } from '@orrery/protocol';
import { dequeue, dropWaits, findEntry } from '../queue/index.ts';
import type { Tx } from '../store/store.ts';
import { countAttempts } from './attempt-store.ts';
import { addTask, again } from './add.ts';
import { hasEnded, intentOf, taskNotFound, toTask, type TaskRow } from './model.ts';
import type { TaskParts } from './parts.ts';
import { requeue } from './requeue.ts';
import { findTask, findTasksByPrefix, listTasks, updateTask } from './store.ts';
import { tellWaiting, whyItWaits } from './waiting.ts';

/** Use cases of tasks; one transaction each. */
export type Tasks = {
  add(intent: TaskIntent): Promise<Task>;
  show(id: string): Promise<Task>;
  list(query: OperationCall<'taskList'>['query']): Promise<{ items: Task[]; nextCursor: string | null; seq: number }>;
  cancel(id: string): Promise<Task>;
  retry(id: string, requestId: string | undefined): Promise<Task>;
  /** The full id of an id or an unambiguous beginning of one. */
  find(id: string): Promise<TaskRow>;
  view(row: TaskRow, replayed?: boolean): Promise<Task>;
};

export const createTasks = (parts: TaskParts): Tasks => {
  const { store } = parts;

  const find = async (id: string): Promise<TaskRow> => {
    const exact = await findTask(store.read, id);
    if (exact !== null) return exact;
    const found = /^tsk_[0-9a-z]{4,}$/.test(id) ? await findTasksByPrefix(store.read, id) : [];
    if (found.length > 1)
      throw new OrreryError('ambiguous', `More than one task begins with ${id}.`, {
        rule: 'A beginning must name one task alone.',
        fix: 'orrery task list',
      });
    const only = found[0];
    if (only === undefined) throw taskNotFound(id);
    return only;
  };

  const viewAll = async (rows: readonly TaskRow[]): Promise<Task[]> => {
    const seq = store.seq();
    const attempts = await countAttempts(
      store.read,
      rows.map((row) => row.id),
    );
    const pulls = await parts.pullRequestsOf(rows.map(({ id }) => id));
    const projects = await parts.projectsById([...new Set(rows.flatMap((row) => row.project_id ?? []))]);
    return Promise.all(
      rows.map(async (row) => {
        const project =
          row.project_id === null ? null : (projects.get(row.project_id) ?? { id: row.project_id, name: '(removed)', path: '' });
        const task = toTask(row, {
          ...{ seq, attempts: attempts.get(row.id) ?? 0, project, pullRequest: pulls.get(row.id) ?? null },
        });
        const waitingFor = await whatItWaitsFor(parts, row);
        return waitingFor === null ? task : { ...task, waitingFor };
      }),
    );
  };

  const view = async (row: TaskRow, replayed = false): Promise<Task> => {
    const [task] = await viewAll([row]);
    if (task === undefined) throw taskNotFound(row.id);
    return { ...task, replayed };
  };

  return {
    find,
    view,
    show: async (id) => view(await find(id)),
    list: async (query) => {
      const before = query.cursor === undefined ? null : Number(query.cursor);
      if (before !== null && !Number.isSafeInteger(before))
        throw new OrreryError('invalid_input', 'That cursor is not one of this list.', { fix: 'Begin again without a cursor.' });
      const projectId = query.project === undefined ? undefined : (await parts.resolveProject(query.project)).id;
      const rows = await listTasks(store.read, {
        limit: query.limit,
        before,
        state: query.state,
        series: query.series,
        projectId,
      });
      const last = rows.length === query.limit ? rows.at(-1) : undefined;
      return { items: await viewAll(rows), nextCursor: last === undefined ? null : String(last.key), seq: store.seq() };
    },
    add: async (intent) => {
      const { row, replayed } = await addTask(parts, intent, find);
      parts.wake();
      return view(row, replayed);
    },
    cancel: async (id) => {
      const task = await find(id);
      await store.transaction((tx) => cancelTask(tx, task.id, parts.clock.nowMs()));
      parts.cancelRunning(task.id);
      return view(await find(task.id));
    },
    retry: async (id, requestId) => {
      const task = await find(id);
      if (task.state === 'limit' || task.state === 'interrupted') {
        parts.checkRoom();
        await store.transaction((tx) => requeue(tx, task.id, { nowMs: parts.clock.nowMs(), pastLimit: true }));
        parts.wake();
        return view(await find(task.id));
      }
      if (!hasEnded(task.state as Task['state'])) {
        throw new OrreryError('busy', `Task ${task.id} is ${task.state}.`, {
          rule: 'Only a task that has ended can be retried.',
          fix: `orrery task cancel ${task.id}`,
        });
      }
      const intent = intentOf(task);
      const { row, replayed } = await addTask(
        parts,
        { ...again(intent), requestId, origin: { kind: 'retry', by: task.id } },
        find,
      );
      parts.wake();
      return view(row, replayed);
    },
  };
};

/** Why nothing of a task runs now, in words; null when it runs or is over. */
const whatItWaitsFor = async ({ store, clock, accountLimit }: TaskParts, row: TaskRow): Promise<string | null> => {
  const { id, state, cause } = row;
  if (state === 'limit' && cause === null) return accountLimit(row);
  if (state !== 'queued' && state !== 'waiting') return null;
  return whyItWaits(store.read, id, { nowMs: clock.nowMs(), limit: await accountLimit(row) });
};

const cancelTask = async (tx: Tx, id: string, nowMs: number): Promise<void> => {
  const row = await findTask(tx.db, id);
  if (row === null) throw taskNotFound(id);
  if (row.state === 'cancelled') return;
  if (row.state === 'running') {
    await updateTask(tx.db, id, { cancel_requested: 1 });
    return;
  }
  if (hasEnded(row.state as Task['state']) && row.state !== 'limit' && row.state !== 'interrupted') {
    throw new OrreryError('conflict', `Task ${id} has already ended: ${row.state}.`, {
      rule: 'Only work that waits or runs can be cancelled.',
      fix: `orrery task show ${id}`,
    });
  }
  const entry = await findEntry(tx.db, id);
  if (entry !== null && entry.lease_owner !== null) {
    await updateTask(tx.db, id, { cancel_requested: 1 });
    return;
  }
  if (entry !== null) await dequeue(tx.db, id, null);
  await dropWaits(tx.db, id);
  await updateTask(tx.db, id, {
    state: 'cancelled',
    verdict: 'cancelled',
    cause: null,
    reason: 'Cancelled before it began.',
    ended_at: nowMs,
  });
  await tx.append([{ taskId: id, turn: null, body: { kind: 'task.state', state: 'cancelled', waitingFor: null } }]);
  await tellWaiting(tx, { taskId: id, verdict: 'cancelled', nowMs });
};
