import type { NodeBody } from '@orrery/protocol';
import { compareTrees, countCommits, resolveCommit } from '../git/compare.ts';
import { listRefs, setRef, writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { isAncestor } from '../git/publish.ts';
import type { Git } from '../git/run.ts';
import type { CheckoutView } from '../git/snapshot.ts';
import { seal } from './gather.ts';
import type { Collected, Gathered, Inspected, Saved, WorkspaceContext } from './model.ts';
import { insertSalvage } from './store.ts';

/** Whose work it is. */
export type Whose = { readonly projectId: string; readonly taskId: string };

/** Names what a checkout holds as the result of an attempt. */
export const storeResult = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { inspected, taskId, attempt, message }: { inspected: Inspected; taskId: string; attempt: number; message?: string },
): Promise<Collected> => {
  const { baseSha, headSha, tree, uncommitted, extra } = inspected;
  // The person waits for this: the comparison needs the files alone and is made while the commit is.
  const [{ finalSha }, comparison, commits] = await Promise.all([
    seal(context, view, { ...inspected, message }),
    compareTrees(context.git, view.mirror, { from: baseSha, to: headSha === baseSha && !uncommitted ? baseSha : tree }),
    countCommits(context.git, view.mirror, { from: baseSha, to: headSha }),
  ]);
  const resultRef = `refs/orrery/results/${refPart(taskId)}/${attempt}`;
  const kept = extra.map(({ sha }, index) => ({ ref: `refs/orrery/kept/${refPart(taskId)}/${attempt}-${index + 1}`, sha }));
  for (const { ref, sha } of [{ ref: resultRef, sha: finalSha }, ...kept]) await writeRef(view.mirror, { ref, sha });
  const also = extra.map(
    (tip, index) =>
      `${tip.ref === 'refs/stash' ? 'a stash entry' : tip.ref === 'ORIG_HEAD' ? 'where the unfinished rebase began' : tip.ref.replace('refs/heads/', 'the branch ')} is kept as ${kept[index]?.ref}`,
  );
  return {
    baseSha,
    headSha: finalSha,
    resultRef,
    commits: commits + (uncommitted ? 1 : 0),
    ...comparison,
    uncommitted,
    notes: [...inspected.notes, ...also],
  };
};

const inModule = (ref: string): boolean => ref.startsWith('the submodule ');

/** What of a checkout no ref of the mirror names yet; empty when it may be cleaned. */
export const unsaved = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { gathered, taskId }: { gathered: Gathered; taskId: string },
): Promise<{ final: boolean; extra: Gathered['extra']; reasons: string[] }> => {
  const saved = await listRefs(
    context.git,
    view.mirror,
    ...['results', 'kept', 'salvage'].map((group) => `refs/orrery/${group}/${refPart(taskId)}/`),
  );
  const refs = [{ ref: 'base', sha: gathered.baseSha }, ...saved];
  const holds = async (sha: string): Promise<boolean> => {
    for (const known of refs)
      if (known.sha === sha || (await isAncestor(context.git, { gitDir: view.mirror }, { older: sha, newer: known.sha })))
        return true;
    return false;
  };
  const named = saved.some(({ sha }) => sha === gathered.finalSha);
  const final =
    !named &&
    !(gathered.uncommitted
      ? (await holds(gathered.headSha)) && (await holdsTree(context, view.mirror, { sha: gathered.finalSha, refs }))
      : await holds(gathered.headSha));
  const extra = [];
  for (const tip of gathered.extra) {
    const same = inModule(tip.ref) && (await holdsAnew(context, view.mirror, { sha: tip.sha, refs, holds }));
    if (!same && !(await holds(tip.sha))) extra.push(tip);
  }
  const reasons = [
    ...(final && gathered.uncommitted ? ['files that are not committed'] : []),
    ...(final && gathered.headSha !== gathered.baseSha ? ['commits'] : []),
    ...(extra.some(({ ref }) => ref === 'refs/stash') ? ['stash entries'] : []),
    ...(extra.some(({ ref }) => inModule(ref)) ? ['work in submodules'] : []),
    ...(extra.some(({ ref }) => ref !== 'refs/stash' && !inModule(ref)) ? ['other branches'] : []),
  ];
  return { final, extra, reasons };
};

/** A commit for uncommitted work is made anew each time; what counts is whether a ref has the same files. */
const holdsTree = async (
  context: WorkspaceContext,
  mirror: string,
  { sha, refs }: { sha: string; refs: readonly { sha: string }[] },
): Promise<boolean> => {
  const shas = [sha, ...refs.map((known) => known.sha)];
  const [tree, ...known] = (
    await context.git.text({ gitDir: mirror, args: ['rev-parse', ...shas.map((one) => `${one}^{tree}`)] })
  ).split('\n');
  return known.includes(tree ?? '');
};

/** The same of a submodule: what is not committed there is a commit that is made anew, with the time of now, on commits that stay. */
const holdsAnew = async (
  context: WorkspaceContext,
  mirror: string,
  { sha, refs, holds }: { sha: string; refs: readonly { sha: string }[]; holds: (sha: string) => Promise<boolean> },
): Promise<boolean> => {
  if (!(await holdsTree(context, mirror, { sha, refs }))) return false;
  const parents = (await context.git.text({ gitDir: mirror, args: ['rev-parse', `${sha}^@`] }))
    .split('\n')
    .filter((one) => one !== '');
  for (const parent of parents) if (!(await holds(parent))) return false;
  return true;
};

/** Saves a commit as salvage: the ref first, then row and event; a crash between them is settled at the next start. */
export const saveCommit = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { whose, sha, baseSha, reason }: { whose: Whose; sha: string; baseSha: string; reason: string },
): Promise<Saved> => {
  const prefix = `refs/orrery/salvage/${refPart(whose.taskId)}/`;
  const numbers = (await listRefs(context.git, view.mirror, prefix)).map(({ ref }) => Number(ref.slice(prefix.length)));
  const ref = `${prefix}${Math.max(0, ...numbers.filter(Number.isInteger)) + 1}`;
  await setRef(context.git, view.mirror, { ref, sha, old: null });
  return recordSalvage(context, view, { whose, ref, sha, baseSha, reason });
};

/** Writes the row and the event of a salvage ref. */
export const recordSalvage = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { whose, ref, sha, baseSha, reason }: { whose: Whose; ref: string; sha: string; baseSha: string | null; reason: string },
): Promise<Saved> => {
  const from = baseSha ?? (await savedSince(context.git, view.mirror, { taskId: whose.taskId, sha }));
  const { files } = await compareTrees(context.git, view.mirror, { from, to: sha });
  const id = context.ids('salvage');
  const body: NodeBody = { kind: 'salvage.saved', projectId: whose.projectId, ref, taskId: whose.taskId };
  await context.store.transaction(async (tx) => {
    await insertSalvage(tx.db, {
      id,
      project_id: whose.projectId,
      task_id: whose.taskId,
      ref,
      sha,
      reason,
      files: files.length,
      created_at: context.clock.nowMs(),
    });
    await tx.append([{ taskId: null, turn: null, body }]);
  });
  context.log.info('workspace.salvaged', { projectId: whose.projectId, taskId: whose.taskId, ref, files: files.length });
  return { id, ref, sha, files: files.length };
};

/** No files: what a commit without a parent is compared with. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** What saved work is shown against: the base of its task, else the commit before it. */
export const savedSince = async (
  git: Git,
  mirror: string,
  { taskId, sha }: { taskId: string | null; sha: string },
): Promise<string> =>
  (taskId === null ? null : await resolveCommit(git, mirror, `refs/orrery/base/${refPart(taskId)}`)) ??
  (await resolveCommit(git, mirror, `${sha}^`)) ??
  emptyTree;
