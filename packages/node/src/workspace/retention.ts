import { ASIDE_DAYS } from '../kernel/limits.ts';
import { walkTree, absoluteBytes, lookAt } from '../files/tree-walk.ts';
import { removeDirectory } from './directories.ts';
import type { Reclaimed, WorkspaceContext } from './model.ts';
import { listDirectories } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * What is aside longer than its days: listed (`dryRun`) or removed. Only what was moved aside is ever taken by age: a
 * checkout with work in it, a mirror and salvage refs are not.
 */
export const reclaimAside = async (context: WorkspaceContext, { dryRun, days = ASIDE_DAYS }: { dryRun: boolean; days?: number }): Promise<Reclaimed[]> => {
  const now = context.clock.nowMs();
  const due = (await listDirectories(context.store.read, { kind: 'aside', state: 'kept' })).filter(({ used_at }) => now - used_at >= days * dayMs);
  const found: Reclaimed[] = [];
  for (const row of due) {
    found.push({ id: row.id, path: row.path, kind: 'aside', bytes: lookAt(row.path) === null ? null : await sizeOf(row.path), ageDays: Math.floor((now - row.used_at) / dayMs) });
    if (!dryRun) await removeDirectory(context, row);
  }
  return found;
};

const sizeOf = async (path: string): Promise<number> => {
  let bytes = 0;
  for (const entry of await walkTree(path)) if (entry.type === 'file') bytes += lookAt(absoluteBytes(path, entry.path))?.size ?? 0;
  return bytes;
};
