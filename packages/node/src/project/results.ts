import { OrreryError, type TaskApplied, type TaskDiff } from '@orrery/protocol';
import { bringIntoTree } from '../git/bring-in.ts';
import { compareTrees, patchBetween } from '../git/compare.ts';
import { publishBranch, type Publish } from '../git/publish.ts';
import type { Git } from '../git/run.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Store } from '../store/store.ts';
import { mirrorPath } from '../workspace/index.ts';
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
export type Apply = ResultOf & { readonly mode: 'branch' | 'tree'; readonly branch: string };

/** Results in the mirrors of projects: shown, and brought into the user's repository. */
export type Results = {
  /** The change of a result; the patch is cut at its bound and says so. */
  diff(result: ResultOf): Promise<TaskDiff>;
  /**
   * Brings a result into the user's repository. `branch`: a branch is made, nothing checked out is touched. `tree`: the
   * checked-out branch moves forward or merges, only when its tree is clean. Rejects with `dirty_tree`, `merge_conflict`,
   * `conflict` or `unsupported`; then the repository is as it was.
   */
  apply(apply: Apply): Promise<TaskApplied>;
};

/** Makes the door to results. */
export const createResults = ({ store, git, dataDirectory }: { store: Store; git: Git; dataDirectory: string }): Results => {
  const mutex = createMutex();
  return {
    diff: async ({ taskId, projectId, baseSha, headSha }) => {
      const range = { from: baseSha, to: headSha };
      const mirror = mirrorPath(dataDirectory, projectId);
      const [{ files }, patch] = await Promise.all([compareTrees(git, mirror, range), patchBetween(git, mirror, range)]);
      return { taskId, baseSha, headSha, files: [...files], ...patch };
    },
    apply: (apply) =>
      mutex.run(`apply:${apply.projectId}`, async () => {
        const row = (await projectById(store.read, apply.projectId)) ?? raise(projectNotFound(apply.projectId));
        return applyResult({ git, row, mirror: mirrorPath(dataDirectory, row.id) }, apply);
      }),
  };
};

const applyResult = async (
  { git, row, mirror }: { git: Git; row: ProjectRow; mirror: string },
  { taskId, baseSha, headSha, mode, branch }: Apply,
): Promise<TaskApplied> => {
  if (headSha === baseSha)
    return { taskId, branch: null, headSha, treeUpdated: false, note: 'The task changed nothing; there is nothing to apply.' };
  if (row.kind !== 'repository') {
    throw new OrreryError('unsupported', `${row.name} was added by a URL: there is no repository here to apply to.`, {
      rule: 'Nothing is pushed without being asked.',
      fix: `git fetch "${mirror}" ${headSha}:refs/heads/${branch}`,
    });
  }
  const publish: Publish = { git, mirror, ref: await refNaming(git, mirror, headSha), sha: headSha, repository: row.source };
  if (mode === 'branch') {
    const outcome = await publishBranch(publish, branch);
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
  const brought = await bringIntoTree(publish, { message: `Merge the result of ${taskId}`, fallback: branch });
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

/** A ref of the mirror that names the commit: what a fetch asks for. */
const refNaming = async (git: Git, mirror: string, sha: string): Promise<string> => {
  const ref = (
    await git.text({
      gitDir: mirror,
      args: ['for-each-ref', '--points-at', sha, '--count=1', '--format=%(refname)', 'refs/orrery/'],
    })
  ).trim();
  if (ref !== '') return ref;
  throw new OrreryError('not_found', `The result ${sha} is no longer in the mirror.`, { fix: 'orrery salvage list' });
};
