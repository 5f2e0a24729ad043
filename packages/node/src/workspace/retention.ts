import { ASIDE_DAYS, SALVAGE_PER_SWEEP } from '../kernel/limits.ts';
import { walkTree, absoluteBytes, lookAt } from '../files/tree-walk.ts';
import { removeDirectory } from './directories.ts';
import { mirrorPath, type Reclaimed, type WorkspaceContext } from './model.ts';
import { deleteSalvage, listDirectories, salvageUntil, type SalvageRow } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * What is aside longer than its days: listed (`dryRun`) or removed. Only what was moved aside is ever taken by age: a
 * checkout with work in it, a mirror and salvage refs are not.
 */
export const reclaimAside = async (
  context: WorkspaceContext,
  { dryRun, days = ASIDE_DAYS }: { dryRun: boolean; days?: number },
): Promise<Reclaimed[]> => {
  const now = context.clock.nowMs();
  const due = (await listDirectories(context.store.read, { kind: 'aside', state: 'kept' })).filter(
    ({ used_at }) => now - used_at >= days * dayMs,
  );
  const found: Reclaimed[] = [];
  for (const row of due) {
    if (context.stopping.aborted) break;
    found.push({
      id: row.id,
      path: row.path,
      kind: 'aside',
      bytes: lookAt(row.path) === null ? null : await sizeOf(row.path, context.stopping),
      ageDays: Math.floor((now - row.used_at) / dayMs),
    });
    if (!dryRun) await removeDirectory(context, row);
  }
  return found;
};

/** Saved work that retention took or would take. */
export type ReclaimedSalvage = {
  readonly id: string;
  readonly projectId: string;
  readonly ref: string;
  readonly sha: string;
  readonly savedAtMs: number;
  readonly ageDays: number;
};

/**
 * Saved work older than `days`: listed (`dryRun`) or its refs and rows taken away. There is no default: saved work is kept
 * until an operator says for how long. Objects stay in the mirror, so that the commit can still be named.
 */
export const reclaimSalvage = async (
  context: WorkspaceContext,
  { dryRun, days }: { dryRun: boolean; days: number },
): Promise<ReclaimedSalvage[]> => {
  const now = context.clock.nowMs();
  const due = await salvageUntil(context.store.read, { untilMs: now - days * dayMs, limit: SALVAGE_PER_SWEEP });
  for (const row of dryRun ? [] : due) {
    await dropSalvage(context, row);
    context.log.info('workspace.salvage.reclaimed', { id: row.id, ref: row.ref, sha: row.sha });
  }
  return due.map(({ id, project_id, ref, sha, created_at }) => ({
    id,
    projectId: project_id,
    ref,
    sha,
    savedAtMs: created_at,
    ageDays: Math.floor((now - created_at) / dayMs),
  }));
};

/** Takes the ref and the row of saved work away. */
export const dropSalvage = async (
  { git, store, dataDirectory }: Pick<WorkspaceContext, 'git' | 'store' | 'dataDirectory'>,
  row: SalvageRow,
): Promise<void> => {
  const mirror = mirrorPath(dataDirectory, row.project_id);
  // With its old value: a ref that was moved by someone else is not this saved work any more.
  await git.run({ gitDir: mirror, readOnly: false, args: ['update-ref', '-d', row.ref, row.sha] });
  await store.transaction((tx) => deleteSalvage(tx.db, row.id));
};

const sizeOf = async (path: string, signal: AbortSignal): Promise<number> => {
  let bytes = 0;
  for (const entry of await walkTree(path, { signal }))
    if (entry.type === 'file') bytes += lookAt(absoluteBytes(path, entry.path))?.size ?? 0;
  return bytes;
};
