import { OrreryError, type ChangeSet, type FileChange, type LeftOut, type TaskApplied, type TaskDiff } from '@orrery/protocol';
import { changeSetOf, fileChangeOf, type FileOf } from '../git/changes.ts';
import { compareTrees, patchBetween } from '../git/compare.ts';
import { writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { commitWithout } from '../git/pick.ts';
import type { Publish } from '../git/publish.ts';
import type { Git } from '../git/run.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Store } from '../store/store.ts';
import { mirrorPath, type RepositoryChanges } from '../workspace/index.ts';
import { projectNotFound, raise, type ProjectRow } from './model.ts';
import { projectById } from './store.ts';

/** A result of a task, as the task slice knows it. */
export type ResultOf = {
  readonly taskId: string;
  readonly projectId: string;
  readonly baseSha: string;
  readonly headSha: string;
};

/** How it is to be applied. `branch` is the name for `branch` mode, and the one that the advice of a refusal names. */
export type Apply = ResultOf & {
  readonly mode: 'branch' | 'tree';
  readonly branch: string;
  /** What it is, in a commit that merges it. Absent: the result of its task. */
  readonly what?: string;
  /** What of it stays behind: then one commit with the rest is applied, and not the commits of the result. */
  readonly without?: LeftOut;
};

/** Results in the mirrors of projects: shown, and brought into the user's repository. */
export type Results = {
  /** The change of a result; the patch is cut at its bound and says so. */
  diff(result: ResultOf): Promise<TaskDiff>;
  /** The files of a result, cut at the bound of a list. */
  changes(result: ResultOf): Promise<ChangeSet>;
  /** One file of it. Rejects with `not_found` when the result does not touch it. */
  change(result: ResultOf, file: FileOf & { readonly whole: boolean }): Promise<FileChange>;
  /**
   * Brings a result into the user's repository. `branch`: a branch is made, nothing checked out is touched. `tree`: the
   * checked-out branch moves forward or merges, only when its tree is clean. Rejects with `dirty_tree`, `merge_conflict`,
   * `conflict` or `unsupported`; then the repository is as it was.
   */
  apply(apply: Apply): Promise<TaskApplied>;
  /** The commit of a result without what stays behind, named in the mirror. Rejects with `not_found` when it is no longer there. */
  pick(result: ResultOf, without: LeftOut): Promise<string>;
};

/** Makes the door to results. */
export const createResults = ({
  store,
  git,
  dataDirectory,
  changes,
}: {
  store: Store;
  git: Git;
  dataDirectory: string;
  changes: RepositoryChanges;
}): Results => {
  const mutex = createMutex();
  return {
    diff: async ({ taskId, projectId, baseSha, headSha }) => {
      const range = { from: baseSha, to: headSha };
      const mirror = mirrorPath(dataDirectory, projectId);
      const [{ files }, patch] = await Promise.all([compareTrees(git, mirror, range), patchBetween(git, mirror, range)]);
      return { taskId, baseSha, headSha, files: [...files], ...patch };
    },
    changes: ({ projectId, baseSha, headSha }) =>
      changeSetOf(git, mirrorPath(dataDirectory, projectId), { from: baseSha, to: headSha }),
    change: ({ projectId, baseSha, headSha }, file) =>
      fileChangeOf(git, mirrorPath(dataDirectory, projectId), { from: baseSha, to: headSha, ...file }),
    apply: async (apply) => {
      const row = (await projectById(store.read, apply.projectId)) ?? raise(projectNotFound(apply.projectId));
      const mirror = mirrorPath(dataDirectory, row.id);
      const pick = await mutex.run(row.id, () => picked(git, mirror, apply));
      return applyResult({ git, changes, row, mirror }, pick);
    },
    pick: async (result, without) => {
      const mirror = mirrorPath(dataDirectory, result.projectId);
      await requireNamed(git, mirror, result.headSha);
      const { headSha } = await mutex.run(result.projectId, () => picked(git, mirror, { ...result, without }));
      return headSha;
    },
  };
};

/** With a commit of what is not left out in place of the result; it is named in the mirror before anything refers to it. */
const picked = async <Asked extends ResultOf & Pick<Apply, 'without'>>(
  git: Git,
  mirror: string,
  apply: Asked,
): Promise<Asked> => {
  const { without: leftOut = [], taskId, baseSha: from, headSha: to } = apply;
  if (leftOut.length === 0) return apply;
  await requireNamed(git, mirror, to);
  const message = `The result of ${taskId}, in part`;
  const sha = await commitWithout(git, mirror, { from, to, leftOut, message });
  await writeRef(mirror, { ref: `refs/orrery/picked/${refPart(taskId)}/${sha}`, sha });
  return { ...apply, headSha: sha };
};

const applyResult = async (
  { git, changes, row, mirror }: { git: Git; changes: RepositoryChanges; row: ProjectRow; mirror: string },
  { taskId, baseSha, headSha, mode, branch, what = `the result of ${taskId}` }: Apply,
): Promise<TaskApplied> => {
  if (headSha === baseSha)
    return { taskId, branch: null, headSha, treeUpdated: false, note: 'Nothing was changed; there is nothing to apply.' };
  if (row.kind !== 'repository') {
    throw new OrreryError('unsupported', `${row.name} was added by a URL: there is no repository here to apply to.`, {
      rule: 'Nothing is pushed without being asked.',
      fix: `git fetch "${mirror}" ${headSha}:refs/heads/${branch}`,
    });
  }
  await requireNamed(git, mirror, headSha);
  const publish: Publish = { projectId: row.id, mirror, sha: headSha, repository: row.source };
  if (mode === 'branch') {
    const outcome = await changes.branch(publish, branch);
    return {
      taskId,
      branch,
      headSha,
      treeUpdated: false,
      note:
        outcome === 'unchanged'
          ? `The branch ${branch} has it already.`
          : `The branch ${branch} has it now; no file was touched.`,
    };
  }
  return applyToTree(changes, publish, { taskId, branch, what });
};

const applyToTree = async (
  changes: RepositoryChanges,
  publish: Publish,
  { taskId, branch, what }: { taskId: string; branch: string; what: string },
): Promise<TaskApplied> => {
  const brought = await changes.tree(publish, { message: `Merge ${what}`, fallback: branch });
  const notes = {
    unchanged: `${brought.branch} has it already.`,
    'fast-forward': `${brought.branch} was moved forward.`,
    merge: `It was merged into ${brought.branch}.`,
  };
  return {
    taskId,
    branch: brought.branch,
    headSha: brought.headSha,
    treeUpdated: brought.how !== 'unchanged',
    note: notes[brought.how],
  };
};

/** A commit that no ref of the mirror names is not known to be whole. */
const requireNamed = async (git: Git, mirror: string, sha: string): Promise<void> => {
  const ref = (
    await git.text({
      gitDir: mirror,
      args: ['for-each-ref', '--points-at', sha, '--count=1', '--format=%(refname)', 'refs/orrery/'],
    })
  ).trim();
  if (ref !== '') return;
  throw new OrreryError('not_found', `The result ${sha} is no longer in the mirror.`, { fix: 'orrery salvage list' });
};
