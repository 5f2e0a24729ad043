// Glossary. What is pruned of sessions is what nobody can ask for any more: rows of processes that ended, and refs of
// checkpoints that no row names. Inputs stay as long as their session: a request that comes again is answered by them, and
// a fork counts its turns on from theirs.

import type { Kysely } from 'kysely';
import type { Store } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';

/** Rows that go in one transaction: others wait for it. */
export const PRUNED_AT_ONCE = 500;

/** Takes rows away, a bounded number at a time, until nothing is left to be taken; answers how many went. */
export const pruneAll = async (
  store: Pick<Store, 'transaction'>,
  prune: (db: Kysely<Tables>, most: number) => Promise<number>,
): Promise<number> => {
  let gone = 0;
  for (;;) {
    const count = await store.transaction((tx) => prune(tx.db, PRUNED_AT_ONCE));
    gone += count;
    if (count < PRUNED_AT_ONCE) return gone;
  }
};

/** Removes processes that ended before an instant, but for the newest one of a session that goes on: it is looked at when that wakes. */
export const removeRuns = async (
  db: Kysely<Tables>,
  { beforeMs, most }: { readonly beforeMs: number; readonly most: number },
): Promise<number> => {
  const rows = await db
    .selectFrom('session_run')
    .innerJoin('session', 'session.id', 'session_run.session_id')
    .select('session_run.id')
    .where('session_run.state', '=', 'ended')
    .where('session_run.ended_at', '<', beforeMs)
    .where((eb) =>
      eb.or([
        eb('session.ended_at', 'is not', null),
        eb('session.run_id', 'is', null),
        eb('session.run_id', '!=', eb.ref('session_run.id')),
      ]),
    )
    .limit(most)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('session_run').where('id', 'in', ids).execute();
  return ids.length;
};

type CheckpointRef = { readonly ref: string; readonly sha: string };
type ListedRef = CheckpointRef & { readonly namedMs: number | null };

type CheckpointSweep = {
  readonly store: Pick<Store, 'read'>;
  /** Checkpoints that a project's mirror has. */
  listed(projectId: string): Promise<readonly ListedRef[]>;
  drop(projectId: string, checkpoint: CheckpointRef): Promise<void>;
  /** When this node started: what it makes has its ref since. */
  readonly startedAtMs: number;
};

/**
 * Makes what takes refs of checkpoints away that no row names: those of a node that died between the two. One is only taken
 * when it is from before this node started, or was already there, and named by nobody, the time before: one that is being made has its ref before its row.
 */
export const createCheckpointSweep = (parts: CheckpointSweep): ((projectIds: readonly string[]) => Promise<number>) => {
  let seen: ReadonlySet<string> = new Set();
  return async (projectIds) => {
    const unnamed = new Set<string>();
    let gone = 0;
    for (const projectId of projectIds) {
      const listed = await parts.listed(projectId);
      const named = listed.length === 0 ? new Set() : await namedRefs(parts.store.read, projectId);
      for (const checkpoint of listed.filter(({ ref }) => !named.has(ref))) {
        const key = `${projectId} ${checkpoint.ref} ${checkpoint.sha}`;
        if (seen.has(key) || (checkpoint.namedMs !== null && checkpoint.namedMs < parts.startedAtMs)) {
          await parts.drop(projectId, checkpoint);
          gone++;
        } else unnamed.add(key);
      }
    }
    seen = unnamed;
    return gone;
  };
};

const namedRefs = async (db: Kysely<Tables>, projectId: string): Promise<ReadonlySet<unknown>> =>
  new Set(
    (await db.selectFrom('session_checkpoint').select('ref').where('project_id', '=', projectId).execute()).map(({ ref }) => ref),
  );
