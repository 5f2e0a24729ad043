import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { listRefs } from '../git/mirror.ts';
import { endingWith } from '../git/run.ts';
import type { CheckoutView } from '../git/snapshot.ts';
import { ASIDE_DAYS } from '../kernel/limits.ts';
import { errorFields } from '../kernel/log.ts';
import { claimedRow, rowOf, type ClaimedRow } from './claimed.ts';
import { checkIdentity, directoryId, directoryPath, makeDirectory, removeDirectory } from './directories.ts';
import { gather, inspect } from './gather.ts';
import { lookAt } from '../files/tree-walk.ts';
import {
  mirrorPath,
  slotPaths,
  type Checkout,
  type Collected,
  type Gathered,
  type Saved,
  type WorkspaceContext,
} from './model.ts';
import { recordSalvage, saveCommit, storeResult, unsaved } from './results.ts';
import { dropSlot, scrubSlot } from './scrub.ts';
import { toCheckout, viewOf } from './slot.ts';
import { findDirectory, listDirectories, updateDirectory, type DirectoryRow } from './store.ts';

type Work = { readonly row: ClaimedRow; readonly view: CheckoutView; readonly gathered: Gathered };

/** Saves what no ref names yet. */
export const saveUnsaved = async (context: WorkspaceContext, { row, view, gathered }: Work, reason: string): Promise<Saved[]> => {
  const { final, extra } = await unsaved(context, view, { gathered, taskId: row.task_id });
  const whose = { projectId: row.project_id, taskId: row.task_id };
  const saved: Saved[] = [];
  if (final) saved.push(await saveCommit(context, view, { whose, sha: gathered.finalSha, baseSha: row.base_sha, reason }));
  for (const tip of extra)
    saved.push(await saveCommit(context, view, { whose, sha: tip.sha, baseSha: row.base_sha, reason: `${reason} (${tip.ref})` }));
  return saved;
};

/** Saves everything of a checkout that no ref names yet, and leaves the checkout as it is. Empty: nothing was unsaved. */
export const salvageCheckout = (context: WorkspaceContext, id: string, reason: string): Promise<Saved[]> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    return saveUnsaved(context, { row, view, gathered: await gather(context, view, { baseSha: row.base_sha }) }, reason);
  });

/** What of a checkout no ref names yet, in words; it stays as it is. */
export const unsavedIn = (context: WorkspaceContext, id: string): Promise<string[]> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    const gathered = await gather(context, view, { baseSha: row.base_sha });
    return (await unsaved(context, view, { gathered, taskId: row.task_id })).reasons;
  });

/** Stores the result of an attempt; the checkout stays as it is. */
export const collectCheckout = (
  context: WorkspaceContext,
  id: string,
  options: { readonly attempt: number; readonly message?: string; readonly taskId?: string },
): Promise<Collected> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    const inspected = await inspect(context, view, { baseSha: row.base_sha });
    const { taskId = row.task_id, ...rest } = options;
    const stored = await storeResult(context, view, { inspected, taskId, ...rest });
    context.collected.set(id, { ...inspected, finalSha: stored.headSha });
    return stored;
  });

/**
 * Gives a checkout back; one that was given back already is left alone. What is not saved yet is saved (`salvage: true`)
 * or refused with `unsaved_work`; one with files that are too much to be saved is set aside whole. It is looked for in that checkout alone, at this moment (`untouched`: when it was collected). The cleaning goes on in the background.
 */
export const releaseCheckout = (
  context: WorkspaceContext,
  id: string,
  { untouched = false, ...how }: { salvage: boolean; reason: string; untouched?: boolean },
): Promise<Saved[]> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const known = untouched ? context.collected.get(id) : undefined;
    context.collected.delete(id);
    const found = await rowOf(context, id);
    if (found === undefined) return [];
    if (found.kind === 'scratch') {
      await releaseScratch(context, found);
      return [];
    }
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    if (lookAt(view.tree) === null) {
      context.log.warn('workspace.tree.gone', { id: row.id, taskId: row.task_id });
      await removeDirectory(context, row);
      return [];
    }
    const gathered = known ?? (await gather(context, view, { baseSha: row.base_sha }));
    return releaseSlot(context, { row, view, gathered }, how);
  });

const releaseSlot = async (
  context: WorkspaceContext,
  work: Work,
  { salvage, reason }: { salvage: boolean; reason: string },
): Promise<Saved[]> => {
  const { row, view, gathered } = work;
  const { reasons } = await unsaved(context, view, { gathered, taskId: row.task_id });
  if (reasons.length > 0 && !salvage) {
    throw new OrreryError('unsaved_work', `The checkout of ${row.task_id} holds ${reasons.join(', ')} that nothing else has.`, {
      rule: 'Work is saved before its place is cleaned.',
      fix: 'Save it first.',
      details: { reasons },
    });
  }
  const saved = reasons.length > 0 ? await saveUnsaved(context, work, reason) : [];
  if (gathered.tooMuch) {
    await keepAside(context, row);
    return saved;
  }
  await context.store.transaction((tx) => updateDirectory(tx.db, row.id, { state: 'scrubbing' }));
  context.later(() => cleanSlot(context, row, gathered.finalSha));
  return saved;
};

/** Cleans a slot for the next task; one that cannot be proven clean, or is one too many, is removed. Left `scrubbing` when the node stops. */
export const cleanSlot = async (context: WorkspaceContext, row: DirectoryRow, savedSha: string): Promise<void> => {
  const projectId = row.project_id ?? '';
  try {
    const view = viewOf(context, projectId, row.path);
    const git = endingWith(context.git, context.stopping);
    await scrubSlot(context, { ...view, git }, { row, savedTree: savedSha });
  } catch (thrown) {
    // Its row says `scrubbing`: the next start begins anew with what is left.
    if (context.stopping.aborted) return;
    context.log.warn('workspace.scrub.failed', { id: row.id, ...errorFields(thrown) });
    await dropSlot(context, row.id);
    return;
  }
  await context.mutex.run(`pool:${projectId}`, async () => {
    const ready = await listDirectories(context.store.read, { kind: 'slot', state: 'ready', projectId });
    if (ready.length >= context.warmSlots) await removeDirectory(context, row);
    else
      await context.store.transaction((tx) =>
        updateDirectory(tx.db, row.id, { state: 'ready', task_id: null, used_at: context.clock.nowMs() }),
      );
  });
};

/** A checkout without a repository. */
export const makeScratch = async (context: WorkspaceContext, taskId: string): Promise<Checkout> => {
  const id = directoryId(context, 'scratch');
  const made = await makeDirectory(context, {
    kind: 'scratch',
    id,
    path: directoryPath(context, 'scratch', id),
    projectId: null,
    taskId,
  });
  await mkdir(slotPaths(made.path).tree, { mode: 0o755 });
  await context.store.transaction((tx) => updateDirectory(tx.db, id, { state: 'claimed' }));
  const row = await findDirectory(context.store.read, id);
  if (row === undefined) throw new Error('a row that was just written is not there');
  return toCheckout(context, row);
};

/** Sets a whole place aside as it is: it has what nothing else has, and is listed and kept for its days. */
const keepAside = async (context: WorkspaceContext, row: DirectoryRow): Promise<void> => {
  await context.store.transaction((tx) =>
    updateDirectory(tx.db, row.id, { kind: 'aside', state: 'kept', used_at: context.clock.nowMs() }),
  );
  context.log.info('workspace.aside', { taskId: row.task_id, entries: 1, keptDays: ASIDE_DAYS });
};

/** What a scratch folder holds has no other home: it is kept aside for its days; an empty one goes. */
const releaseScratch = async (context: WorkspaceContext, row: DirectoryRow): Promise<void> => {
  checkIdentity(row);
  if (readdirSync(slotPaths(row.path).tree).length === 0) await removeDirectory(context, row);
  else await keepAside(context, row);
};

/** Gives salvage refs that lost their row to a crash one. */
export const settleSalvageRefs = async (context: WorkspaceContext, projectId: string): Promise<number> => {
  const view = viewOf(context, projectId, '/nonexistent');
  const refs = await listRefs(context.git, mirrorPath(context.dataDirectory, projectId), 'refs/orrery/salvage/');
  const rows = await context.store.read.selectFrom('salvage').select('ref').where('project_id', '=', projectId).execute();
  const known = new Set(rows.map(({ ref }) => ref));
  const lost = refs.filter(({ ref }) => !known.has(ref));
  for (const { ref, sha } of lost)
    await recordSalvage(context, view, {
      whose: { projectId, taskId: ref.split('/')[3] ?? '' },
      ref,
      sha,
      baseSha: null,
      reason: 'the node stopped while it was being saved',
    });
  return lost.length;
};
