import { OrreryError } from '@orrery/protocol';
import { enqueue } from '../queue/index.ts';
import type { Tx } from '../store/store.ts';
import { countAttempts } from './attempt-store.ts';
import { intentOf, taskNotFound, type TaskRow } from './model.ts';
import { findTask, updateTask } from './store.ts';

/** A task that a limit or an interruption ended is tried once more, as the same task. */
export const requeue = async (
  tx: Tx,
  id: string,
  { nowMs, pastLimit }: { readonly nowMs: number; readonly pastLimit: boolean },
): Promise<void> => {
  const row = await findTask(tx.db, id);
  if (row === null) throw taskNotFound(id);
  if (row.state !== 'limit' && row.state !== 'interrupted') return;
  await enqueue(tx.db, { taskId: id, priority: intentOf(row).priority, notBefore: 0, nowMs, pastLimit });
  await updateTask(tx.db, id, { state: 'queued', verdict: null, cause: null, reason: null, cancel_requested: 0, ended_at: null });
  await tx.append([{ taskId: id, turn: null, body: { kind: 'task.state', state: 'queued', waitingFor: null } }]);
};

/** Tries those again that a usage limit ended since an instant. A task that met it too often, or for which there is no room, stays as it is. Answers whether one is. */
export const requeueLimited = async (
  tx: Tx,
  given: {
    readonly sinceMs: number;
    readonly nowMs: number;
    readonly attempts: number;
    /** One alone, which is let past the limit. Absent: all. */
    readonly probe?: true;
    readonly concerns: (task: Pick<TaskRow, 'harness' | 'model'>) => boolean;
  },
): Promise<boolean> => {
  const rows = await tx.db
    .selectFrom('task')
    .select(['id', 'harness', 'model'])
    .where('state', '=', 'limit')
    .where('cause', 'is', null)
    .where('ended_at', '>=', given.sinceMs)
    .orderBy('key')
    .execute();
  const met = rows.filter(given.concerns);
  const attempts = await countAttempts(
    tx.db,
    met.map(({ id }) => id),
  );
  let tried = false;
  for (const { id } of met) {
    if (tried && given.probe === true) break;
    if ((attempts.get(id) ?? 0) >= given.attempts) continue;
    try {
      await requeue(tx, id, { nowMs: given.nowMs, pastLimit: given.probe === true });
      tried = true;
    } catch (thrown) {
      if (thrown instanceof OrreryError && thrown.code === 'queue_full') return tried;
      throw thrown;
    }
  }
  return tried;
};
