// Glossary. The queue holds tasks that may start; a claim takes one under a lease with a fencing token that grows with
// every claim, so that a claimer that lost its lease cannot settle. Contract: tasks.

import { OrreryError } from '@orrery/protocol';
import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import { QUEUE_ENTRIES } from '../kernel/limits.ts';
import type { QueueEntryTable } from '../store/queue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { insertWaits, type Wait } from './waits.ts';

/** A task taken from the queue. */
export type Claim = { readonly taskId: string; readonly fence: number };

/** What a claimer may take. */
export type ClaimRules = {
  readonly owner: string;
  readonly nowMs: number;
  readonly leaseMs: number;
  /** Most tasks of one project that run at once. */
  readonly perProject: number;
  /** Harnesses and models whose account is used up: tasks of them are passed over. */
  readonly limited?: readonly { readonly harness: string; readonly model: string | null }[];
};

/** Puts a task into the queue; refuses when it is full. */
export const enqueue = async (
  db: Kysely<Tables>,
  entry: {
    readonly taskId: string;
    readonly priority: number;
    /** An instant that has passed counts as none. */
    readonly notBefore: number;
    readonly nowMs: number;
    readonly waits?: readonly Wait[];
    /** A person asked for it whatever is known of its account. */
    readonly pastLimit?: boolean;
  },
): Promise<void> => {
  const { count } = await db
    .selectFrom('queue_entry')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= QUEUE_ENTRIES) {
    throw new OrreryError('queue_full', `The queue holds ${QUEUE_ENTRIES} tasks and takes no more.`, {
      rule: 'A full queue refuses; it drops nothing.',
      fix: 'Wait for tasks to end, or cancel some: orrery task list --state queued',
    });
  }
  await db
    .insertInto('queue_entry')
    .values({
      task_id: entry.taskId,
      priority: entry.priority,
      not_before: entry.notBefore <= entry.nowMs ? 0 : entry.notBefore,
      lease_owner: null,
      lease_until: null,
      fence: 0,
      enqueued_at: entry.nowMs,
      past_limit: entry.pastLimit === true ? 1 : 0,
    })
    .execute();
  await insertWaits(db, entry.taskId, entry.waits ?? []);
};

/** Whether nothing new may start. */
export const isPaused = async (db: Kysely<Tables>): Promise<boolean> =>
  (await db.selectFrom('queue_state').select('value').where('key', '=', 'paused').executeTakeFirst())?.value === 'yes';

export const setPaused = async (db: Kysely<Tables>, paused: boolean): Promise<void> => {
  const value = paused ? 'yes' : 'no';
  await db
    .insertInto('queue_state')
    .values({ key: 'paused', value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
};

/** Takes the best task that waits for nothing, or null: highest priority first, then oldest; a full project does not hold up others. */
export const claimNext = async (db: Kysely<Tables>, rules: ClaimRules): Promise<Claim | null> => {
  if (await isPaused(db)) return null;
  const busy = await busyProjects(db, rules.perProject);
  let select = db
    .selectFrom('queue_entry')
    .innerJoin('task', 'task.id', 'queue_entry.task_id')
    .select(['queue_entry.task_id', 'queue_entry.fence'])
    .where('queue_entry.lease_owner', 'is', null)
    .where('queue_entry.not_before', '=', 0)
    .where((eb) => eb.not(waitsForTask(eb)))
    .orderBy('queue_entry.priority', 'desc')
    .orderBy('queue_entry.position')
    .limit(1);
  // A task has its environment for itself.
  select = select.where((eb) =>
    eb.or([eb('task.environment_id', 'is', null), eb('task.environment_id', 'not in', busyEnvironments(db))]),
  );
  if (busy.length > 0)
    select = select.where((eb) => eb.or([eb('task.project_id', 'is', null), eb('task.project_id', 'not in', busy)]));
  for (const { harness, model } of rules.limited ?? [])
    select = select.where((eb) =>
      eb.not(
        eb.and([
          eb('queue_entry.past_limit', '=', 0),
          eb('task.harness', '=', harness),
          eb('task.model', 'is not distinct from', model),
        ]),
      ),
    );
  const found = await select.executeTakeFirst();
  if (found === undefined) return null;
  const fence = found.fence + 1;
  await db
    .updateTable('queue_entry')
    .set({ lease_owner: rules.owner, lease_until: rules.nowMs + rules.leaseMs, fence })
    .where('task_id', '=', found.task_id)
    .execute();
  return { taskId: found.task_id, fence };
};

/** Every harness and model that somebody in the queue waits with. */
export const queuedPrograms = (db: Kysely<Tables>): Promise<{ harness: string; model: string | null }[]> =>
  db
    .selectFrom('queue_entry')
    .innerJoin('task', 'task.id', 'queue_entry.task_id')
    .select(['task.harness', 'task.model'])
    .distinct()
    .where('queue_entry.lease_owner', 'is', null)
    .execute();

/** Entries that could be claimed now but for what their account allows, best first; those that were let past a limit are left out. */
export const claimable = (db: Kysely<Tables>): Promise<{ taskId: string; harness: string; model: string | null }[]> =>
  db
    .selectFrom('queue_entry')
    .innerJoin('task', 'task.id', 'queue_entry.task_id')
    .select(['queue_entry.task_id as taskId', 'task.harness', 'task.model'])
    .where('queue_entry.lease_owner', 'is', null)
    .where('queue_entry.not_before', '=', 0)
    .where('queue_entry.past_limit', '=', 0)
    .where((eb) => eb.not(waitsForTask(eb)))
    .orderBy('queue_entry.priority', 'desc')
    .orderBy('queue_entry.position')
    .execute();

/** It is claimed whatever is known of its account. */
export const letPast = async (db: Kysely<Tables>, taskId: string): Promise<void> => {
  await db.updateTable('queue_entry').set({ past_limit: 1 }).where('task_id', '=', taskId).execute();
};

/** Whether an entry waits for another task. */
const waitsForTask = (eb: ExpressionBuilder<Tables, 'queue_entry'>) =>
  eb.exists(eb.selectFrom('task_wait').select('awaits').whereRef('task_wait.task_id', '=', 'queue_entry.task_id'));

const busyEnvironments = (db: Kysely<Tables>) =>
  db
    .selectFrom('queue_entry')
    .innerJoin('task', 'task.id', 'queue_entry.task_id')
    .select('task.environment_id')
    .where('queue_entry.lease_owner', 'is not', null)
    .where('task.environment_id', 'is not', null);

const busyProjects = async (db: Kysely<Tables>, perProject: number): Promise<string[]> => {
  const rows = await db
    .selectFrom('queue_entry')
    .innerJoin('task', 'task.id', 'queue_entry.task_id')
    .select(['task.project_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('queue_entry.lease_owner', 'is not', null)
    .where('task.project_id', 'is not', null)
    .groupBy('task.project_id')
    .execute();
  return rows
    .filter((row) => Number(row.count) >= perProject)
    .flatMap((row) => (row.project_id === null ? [] : [row.project_id]));
};

/** Claimed tasks of other owners than this one: what a dead node was doing. Takes their leases over. */
export const takeOver = async (
  db: Kysely<Tables>,
  rules: { readonly owner: string; readonly nowMs: number; readonly leaseMs: number },
): Promise<Claim[]> => {
  const rows = await db
    .selectFrom('queue_entry')
    .select(['task_id', 'fence'])
    .where('lease_owner', 'is not', null)
    .where('lease_owner', '!=', rules.owner)
    .orderBy('position')
    .execute();
  for (const row of rows) {
    await db
      .updateTable('queue_entry')
      .set({ lease_owner: rules.owner, lease_until: rules.nowMs + rules.leaseMs, fence: row.fence + 1 })
      .where('task_id', '=', row.task_id)
      .execute();
  }
  return rows.map((row) => ({ taskId: row.task_id, fence: row.fence + 1 }));
};

/** Prolongs the leases of an owner. */
export const renewLeases = async (
  db: Kysely<Tables>,
  rules: { readonly owner: string; readonly nowMs: number; readonly leaseMs: number },
): Promise<void> => {
  await db
    .updateTable('queue_entry')
    .set({ lease_until: rules.nowMs + rules.leaseMs })
    .where('lease_owner', '=', rules.owner)
    .execute();
};

/** Removes a task's entry; with a claim only if that claim still holds, else `stale`. */
export const dequeue = async (db: Kysely<Tables>, taskId: string, claim: Claim | null): Promise<void> => {
  let remove = db.deleteFrom('queue_entry').where('task_id', '=', taskId);
  if (claim !== null) remove = remove.where('fence', '=', claim.fence);
  const { numDeletedRows } = await remove.executeTakeFirst();
  if (claim !== null && numDeletedRows === 0n) {
    throw new OrreryError('stale', `Task ${taskId} is no longer held by this node.`, {
      rule: 'Only the holder of the newest claim settles a task.',
    });
  }
};

export type QueueEntry = Selectable<QueueEntryTable>;

export const findEntry = async (db: Kysely<Tables>, taskId: string): Promise<QueueEntry | null> =>
  (await db.selectFrom('queue_entry').selectAll().where('task_id', '=', taskId).executeTakeFirst()) ?? null;

/** How many tasks that may begin stand before this one. */
export const positionOf = async (db: Kysely<Tables>, entry: QueueEntry): Promise<number> => {
  const { count } = await db
    .selectFrom('queue_entry')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('lease_owner', 'is', null)
    .where('not_before', '=', 0)
    .where((eb) => eb.not(waitsForTask(eb)))
    .where((eb) =>
      eb.or([
        eb('priority', '>', entry.priority),
        eb.and([eb('priority', '=', entry.priority), eb('position', '<', entry.position)]),
      ]),
    )
    .executeTakeFirstOrThrow();
  return Number(count);
};
