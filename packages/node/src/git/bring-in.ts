import { resolve } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { lookAt } from '../files/tree-walk.ts';
import { makeChange } from './change/make.ts';
import { lockPaths, stagedCall, stagePaths, userCall, type Change, type ChangeTools } from './change/model.ts';
import { makeMoves, planMoves, storeMoves } from './change/moves.ts';
import { releaseObjects } from './change/objects.ts';
import { takeLock } from './change/own-lock.ts';
import { lockBranch } from './change/ref.ts';
import { byBranch, stageTree } from './change/stage-tree.ts';
import { stageObjects, isAncestor, type Publish } from './publish.ts';
import type { Git } from './run.ts';

/** What became of the user's checked-out branch. */
export type BroughtIn = {
  readonly branch: string;
  readonly headSha: string;
  readonly how: 'unchanged' | 'fast-forward' | 'merge';
};

/**
 * Brings a commit into the branch that is checked out in the user's repository: by fast-forward, else by a merge that is
 * done in the object store before any file is touched. Index and branch are locked all the while, and only a clean tree on
 * a branch is updated. Rejects with `dirty_tree`, `merge_conflict` (with the paths), `conflict` or `unsupported`; then the
 * repository is as it was. `fallback` is the branch name that the advice names.
 */
export const bringIntoTree = async (
  tools: ChangeTools,
  publish: Publish,
  by: { message: string; fallback: string },
): Promise<BroughtIn> => {
  const { git } = tools;
  const { repository, sha } = publish;
  const { branch, head } = await readCheckedOut(git, repository, by.fallback);
  await refuseDirty(git, repository, by.fallback);
  if (await isKnownAncestor(git, repository, { older: sha, newer: head })) return { branch, headSha: head, how: 'unchanged' };
  return makeChange(tools, { ...publish, branch, tree: true, old: head }, async (begun) => {
    await lockBranch(tools, begun.change, publish);
    lockIndex(begun.change);
    await stageObjects(tools, begun.change, publish);
    const forward = await isAncestor(git, stagedCall(begun.change), { older: head, newer: sha });
    const target = forward ? sha : await mergeInStore(git, begun.change, { head, sha, ...by });
    await begun.reach({ target });
    await stageTree(tools, begun.change, by);
    const moves = await planMoves(tools, begun.change);
    // What the plan saw is what this finds clean; a file that is another one when its turn comes is not touched.
    await refuseDirty(git, repository, by.fallback);
    await storeMoves(begun.change, moves);
    await begun.reach({ phase: 'moving' });
    await makeMoves(tools, begun.change, moves);
    await releaseObjects(tools, begun.change);
    await begun.reach({ phase: 'moved' });
    return { branch, headSha: target, how: forward ? 'fast-forward' : 'merge' };
  });
};

const lockIndex = (change: Change): void => {
  const { index, indexLock } = lockPaths(change);
  takeLock(
    { marker: stagePaths(change).indexMarker, lock: indexLock, like: index },
    '',
    'Another program works on the index of the repository',
  );
};

/** A commit that the repository does not have is no ancestor of anything in it. */
const isKnownAncestor = async (git: Git, repository: string, { older, newer }: { older: string; newer: string }) =>
  (await git.run({ ...userCall(repository), args: ['merge-base', '--is-ancestor', older, newer], okCodes: [0, 1, 128] })).code ===
  0;

const readCheckedOut = async (git: Git, repository: string, fallback: string): Promise<{ branch: string; head: string }> => {
  const call = userCall(repository);
  const bare = await git.text({ ...call, args: ['rev-parse', '--is-bare-repository'] });
  if (bare === 'true')
    throw new OrreryError('unsupported', 'The repository is bare: it has no files to update.', { fix: byBranch(fallback) });
  const symbolic = await git.run({ ...call, args: ['symbolic-ref', '--quiet', 'HEAD'], okCodes: [0, 1] });
  const ref = symbolic.stdout.toString('utf8').trim();
  if (!ref.startsWith('refs/heads/')) {
    throw new OrreryError('unsupported', 'No branch is checked out (HEAD is detached).', {
      rule: 'Only a branch is moved forward.',
      fix: byBranch(fallback),
    });
  }
  const head = await git.run({ ...call, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], okCodes: [0, 1, 128] });
  if (head.code !== 0)
    throw new OrreryError('unsupported', 'The branch that is checked out has no commit yet.', { fix: byBranch(fallback) });
  return { branch: ref.slice(11), head: head.stdout.toString('utf8').trim() };
};

const refuseDirty = async (git: Git, repository: string, fallback: string): Promise<void> => {
  const call = userCall(repository);
  const state = await git.text({
    ...call,
    args: [
      'rev-parse',
      '--git-path',
      'MERGE_HEAD',
      '--git-path',
      'rebase-merge',
      '--git-path',
      'rebase-apply',
      '--git-path',
      'CHERRY_PICK_HEAD',
    ],
  });
  const unfinished = state.split('\n').find((path) => lookAt(resolve(repository, path)) !== null) ?? null;
  const { stdout } = await git.run({
    ...call,
    args: ['status', '--porcelain', '-z', '--untracked-files=no', '--ignore-submodules=all'],
  });
  const paths = stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));
  if (paths.length === 0 && unfinished === null) return;
  throw new OrreryError(
    'dirty_tree',
    unfinished === null
      ? `The repository has uncommitted changes (${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ' …' : ''}).`
      : 'The repository is in the middle of a merge, rebase or cherry-pick.',
    {
      rule: 'A dirty tree is never touched.',
      fix: byBranch(fallback),
      details: { paths: paths.slice(0, 100) },
    },
  );
};

/** Merges without a work tree. Nobody's side is preferred: any conflict ends it. */
const mergeInStore = async (
  git: Git,
  change: Change,
  { head, sha, message, fallback }: { head: string; sha: string; message: string; fallback: string },
): Promise<string> => {
  const call = stagedCall(change);
  const merged = await git.run({
    ...call,
    args: ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', head, sha],
    okCodes: [0, 1],
  });
  const [tree = '', ...rest] = merged.stdout.toString('utf8').split('\0');
  if (merged.code === 1) {
    const paths = rest.filter((path) => path !== '');
    throw new OrreryError(
      'merge_conflict',
      `The result conflicts with the branch in ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ' …' : ''}.`,
      {
        rule: "Conflicts stop an apply; nobody's side is preferred.",
        fix: byBranch(fallback),
        details: { paths: paths.slice(0, 100) },
      },
    );
  }
  const own = await git.run({ ...call, args: ['var', 'GIT_COMMITTER_IDENT'], okCodes: [0, 128] });
  const identity = own.code === 0 ? undefined : { name: 'Orrery', email: 'orrery@localhost' };
  return git.text({ ...call, identity, args: ['commit-tree', tree, '-p', head, '-p', sha, '-m', message] });
};
