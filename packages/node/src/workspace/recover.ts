import { existsSync, unlinkSync } from 'node:fs';
import { errorFields } from '../kernel/log.ts';
import { absoluteBytes, lookAt, showBytes, walkTree } from '../files/tree-walk.ts';
import { STALE_LOCK_MS } from '../kernel/limits.ts';
import { removeDirectory } from './directories.ts';
import { mirrorPath, type WorkspaceContext } from './model.ts';
import { cleanSlot, releaseCheckout, settleSalvageRefs } from './release.ts';
import { isHalfGiven } from './slot.ts';
import { deleteDirectory, listDirectories, updateDirectory, type DirectoryRow } from './store.ts';

/** What a start found and did. */
export type Recovered = {
  /** Half-made or half-removed directories that are gone now. */
  readonly removed: number;
  /** Checkouts of tasks that are not live, saved where needed and given back. */
  readonly released: number;
  readonly salvaged: number;
  /** Directories whose row is left though they vanished; their rows are gone now. */
  readonly vanished: number;
  /** Paths that could not be settled; they are left as they are. */
  readonly unsettled: readonly string[];
};

/**
 * Settles what a node that ended left behind. `live` are the tasks whose checkouts go on. Nothing that holds work is
 * cleaned before it is saved; what cannot be settled is left, named, and tried again at the next start.
 */
export const recoverDirectories = async (context: WorkspaceContext, live: ReadonlySet<string>): Promise<Recovered> => {
  const counts = { removed: 0, released: 0, salvaged: 0, vanished: 0 };
  const unsettled: string[] = [];
  for (const row of await listDirectories(context.store.read)) {
    try {
      const settled = await settle(context, row, { live, onSaved: (count) => (counts.salvaged += count) });
      if (settled !== 'untouched') counts[settled]++;
    } catch (thrown) {
      context.log.warn('workspace.recover.failed', { id: row.id, ...errorFields(thrown) });
      unsettled.push(row.path);
    }
  }
  const projects = await context.store.read.selectFrom('project').select('id').execute();
  for (const { id } of projects) {
    const mirror = mirrorPath(context.dataDirectory, id);
    if (!existsSync(mirror)) continue;
    await removeStaleLocks(context, mirror);
    counts.salvaged += await settleSalvageRefs(context, id);
  }
  context.later(() => context.remover.sweep());
  return { ...counts, unsettled };
};

type Settled = 'removed' | 'released' | 'vanished' | 'untouched';

const settle = async (
  context: WorkspaceContext,
  row: DirectoryRow,
  { live, onSaved }: { live: ReadonlySet<string>; onSaved: (count: number) => void },
): Promise<Settled> => {
  if (lookAt(row.path) === null && row.state !== 'removing') {
    await context.store.transaction((tx) => deleteDirectory(tx.db, row.id));
    return 'vanished';
  }
  switch (row.state) {
    case 'making':
      // An aside folder is filled before it is `kept`: it may hold the only copy.
      if (row.kind === 'aside') {
        await context.store.transaction((tx) => updateDirectory(tx.db, row.id, { state: 'kept' }));
        return 'untouched';
      }
      await removeDirectory(context, row);
      return 'removed';
    case 'ready':
      if (row.kind !== 'slot' || !isHalfGiven(row)) return 'untouched';
      await removeDirectory(context, row);
      return 'removed';
    case 'removing':
    case 'priming':
      await removeDirectory(context, row);
      return 'removed';
    case 'scrubbing':
      context.later(() => cleanSlot(context, row, row.base_sha ?? ''));
      return 'released';
    case 'claimed':
      if (row.task_id !== null && live.has(row.task_id)) return 'untouched';
      onSaved(
        (await releaseCheckout(context, `${row.id}:${row.task_id ?? ''}`, { salvage: true, reason: 'the node stopped' })).length,
      );
      return 'released';
    default:
      return 'untouched';
  }
};

/** Locks that a machine which lost power left in a mirror; without this no ref of that name could ever be set again. */
const removeStaleLocks = async (context: WorkspaceContext, mirror: string): Promise<void> => {
  const found = await walkTree(mirror, { skip: (path) => path === 'objects' || path === 'hooks' || path === 'logs' });
  for (const { path, type } of found) {
    const at = absoluteBytes(mirror, path);
    if (type !== 'file' || !path.endsWith('.lock') || context.clock.nowMs() - (lookAt(at)?.mtimeMs ?? Infinity) < STALE_LOCK_MS)
      continue;
    unlinkSync(at);
    context.log.warn('workspace.lock.stale', { path: showBytes(path) });
  }
};
