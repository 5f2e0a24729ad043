import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lookAt } from '../files/tree-walk.ts';
import { makeGitDir } from '../git/git-dir.ts';
import { readShallow, writeRef } from '../git/mirror.ts';
import { branchRef, refPart } from '../git/names.ts';
import { viewCall, type CheckoutView } from '../git/snapshot.ts';
import { GIT_WRITE_MS } from '../kernel/limits.ts';
import { checkIdentity, directoryId, directoryPath, makeDirectory, removeDirectory } from './directories.ts';
import { mirrorPath, slotPaths, taskBranch, type Checkout, type WorkspaceContext } from './model.ts';
import { findDirectory, findReadySlot, listDirectories, updateDirectory, type DirectoryRow } from './store.ts';

/** What a task asks for. */
export type Claim = { readonly projectId: string; readonly taskId: string; readonly baseSha: string; readonly branch?: string };

/** The node's view of a slot. */
export const viewOf = (context: WorkspaceContext, projectId: string, slot: string): CheckoutView => ({
  git: context.git,
  mirror: mirrorPath(context.dataDirectory, projectId),
  ...slotPaths(slot),
});

/** A checkout as callers see it. */
export const toCheckout = (
  context: WorkspaceContext,
  row: DirectoryRow,
  { warm = false, branch }: { warm?: boolean; branch?: string } = {},
): Checkout => {
  const slot = row.kind === 'slot' && row.project_id !== null;
  const path = slotPaths(row.path).tree;
  return {
    // A slot serves one task after the other: a late release must not reach the next one's.
    id: `${row.id}:${row.task_id ?? ''}`,
    kind: slot ? 'slot' : 'scratch',
    projectId: row.project_id,
    taskId: row.task_id ?? '',
    path,
    baseSha: row.base_sha,
    branch: slot ? (branch ?? taskBranch(row.task_id ?? '')) : null,
    readOnlyPaths: slot ? ['.git/config', '.git/hooks', '.orrery'].map((name) => join(path, name)) : [],
    borrowedObjects: slot && row.project_id !== null ? join(mirrorPath(context.dataDirectory, row.project_id), 'objects') : null,
    warm,
  };
};

/**
 * Gives a task a checkout at its base: a ready slot brought there, else a new one. The base is named by a ref of the
 * mirror from then on. Serialised per project. A half-made one is taken away again.
 */
export const claimSlot = (context: WorkspaceContext, claim: Claim): Promise<Checkout> =>
  context.mutex.run(`pool:${claim.projectId}`, async () => {
    const branch = claim.branch ?? taskBranch(claim.taskId);
    branchRef(branch);
    const ready = await findReadySlot(context.store.read, claim);
    const row = ready ?? (await makeSlot(context, claim.projectId, claim.taskId));
    try {
      checkIdentity(row);
      const view = viewOf(context, claim.projectId, row.path);
      // Its files first: a commit that the mirror lacks is not named.
      await Promise.all([
        bringTo(context, view, { row, ready: ready !== undefined, baseSha: claim.baseSha, branch }),
        writeRef(view.mirror, { ref: `refs/orrery/base/${refPart(claim.taskId)}`, sha: claim.baseSha }),
      ]);
      const change = { state: 'claimed', task_id: claim.taskId, base_sha: claim.baseSha, used_at: context.clock.nowMs() };
      await context.store.transaction((tx) => updateDirectory(tx.db, row.id, change));
      return toCheckout(context, { ...row, ...change }, { warm: ready !== undefined, branch });
    } catch (thrown) {
      await removeDirectory(context, row);
      throw thrown;
    }
  });

/**
 * Brings a slot to its base and gives it the agent's `.git`. A ready slot was proven to be its base, and no task has had it
 * since: only another base needs writing, and that the row must say before. A `.git` alone tells a later start itself that
 * the slot is ready no longer.
 */
const bringTo = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { row, ready, baseSha, branch }: { row: DirectoryRow; ready: boolean; baseSha: string; branch: string },
): Promise<void> => {
  if (!ready || row.base_sha !== baseSha) {
    if (ready) await context.store.transaction((tx) => updateDirectory(tx.db, row.id, { state: 'priming' }));
    await resetTree(view, baseSha);
  }
  await makeAgentDir(context, view, { baseSha, branch });
};

/** Whether a slot that its row calls ready was being given to a task when the node ended. */
export const isHalfGiven = (row: DirectoryRow): boolean => lookAt(join(slotPaths(row.path).tree, '.git')) !== null;

/** Makes a slot with nothing in it. */
const makeSlot = async (context: WorkspaceContext, projectId: string, taskId: string | null): Promise<DirectoryRow> => {
  const id = directoryId(context, 'slot');
  const made = await makeDirectory(context, { kind: 'slot', id, path: directoryPath(context, projectId, id), projectId, taskId });
  const view = viewOf(context, projectId, made.path);
  await Promise.all([
    mkdir(view.tree, { mode: 0o755 }),
    makeGitDir({ path: view.nodeDir, kind: 'node', head: 'refs/heads/none', alternates: [join(view.mirror, 'objects')] }),
  ]);
  const row = await findDirectory(context.store.read, id);
  if (row === undefined) throw new Error('a row that was just written is not there');
  return row;
};

/** Makes the files of a slot those of a commit; only what differs from its index is written. */
export const resetTree = async (view: CheckoutView, sha: string): Promise<void> => {
  await view.git.run({ ...viewCall(view), readOnly: false, timeoutMs: GIT_WRITE_MS, args: ['read-tree', '--reset', '-u', sha] });
};

/** Makes the agent's own `.git`: its branch at the base, its index true, objects borrowed, no remote, no upstream, no hook. */
const makeAgentDir = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { baseSha, branch }: { baseSha: string; branch: string },
): Promise<void> => {
  const path = join(view.tree, '.git');
  const ref = branchRef(branch);
  await makeGitDir({
    path,
    kind: 'agent',
    head: ref,
    alternates: [join(view.mirror, 'objects')],
    shallow: await readShallow(view.mirror),
    user: context.identity,
  });
  await mkdir(dirname(join(path, ref)), { recursive: true });
  await Promise.all([writeFile(join(path, ref), `${baseSha}\n`), copyFile(view.index, join(path, 'index'))]);
};

/** Makes one ready slot at a commit, unless there are enough: the next task of the project then starts at once. */
export const warmSlot = (
  context: WorkspaceContext,
  { projectId, baseSha }: { projectId: string; baseSha: string },
): Promise<void> =>
  context.mutex.run(`pool:${projectId}`, async () => {
    const ready = await listDirectories(context.store.read, { kind: 'slot', state: 'ready', projectId });
    if (ready.length >= context.warmSlots) return;
    const row = await makeSlot(context, projectId, null);
    try {
      await resetTree(viewOf(context, projectId, row.path), baseSha);
    } catch (thrown) {
      await removeDirectory(context, row);
      throw thrown;
    }
    await context.store.transaction((tx) => updateDirectory(tx.db, row.id, { state: 'ready', base_sha: baseSha }));
  });
