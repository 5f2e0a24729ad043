import { join, resolve } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { lookAt } from '../files/tree-walk.ts';
import { fetchObjects, isAncestor, userCall, type Publish } from './publish.ts';
import { stderrOf, type Git } from './run.ts';

/** What became of the user's checked-out branch. */
export type BroughtIn = {
  readonly branch: string;
  readonly headSha: string;
  readonly how: 'unchanged' | 'fast-forward' | 'merge';
};

const byBranch = (branch: string): string => `Apply it as a branch instead: --branch ${branch}`;

/**
 * Brings a commit into the branch that is checked out in the user's repository: by fast-forward, else by a merge that is
 * done in the object store before any file is touched. Only a clean tree on a branch is updated, and only by Git's own
 * two-way update, which refuses to overwrite what it does not know. Rejects with `dirty_tree`, `merge_conflict` (with the
 * paths) or `unsupported`; then the repository is as it was. `fallback` is the branch name that the advice names.
 */
export const bringIntoTree = async (
  publish: Publish,
  { message, fallback }: { message: string; fallback: string },
): Promise<BroughtIn> => {
  const { git, repository, sha } = publish;
  const call = userCall(repository);
  const { branch, head } = await readCheckedOut(git, repository, fallback);
  await refuseDirty(git, repository, fallback);
  await fetchObjects(publish);
  if (await isAncestor(git, call, { older: sha, newer: head })) return { branch, headSha: head, how: 'unchanged' };
  const forward = await isAncestor(git, call, { older: head, newer: sha });
  const target = forward ? sha : await mergeInStore(publish, { head, message, fallback });
  await moveTree(publish, { branch, head, target, fallback });
  return { branch, headSha: target, how: forward ? 'fast-forward' : 'merge' };
};

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
  { git, repository, sha }: Publish,
  { head, message, fallback }: { head: string; message: string; fallback: string },
): Promise<string> => {
  const call = userCall(repository);
  const merged = await git.run({
    ...call,
    readOnly: false,
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
  return git.text({ ...call, readOnly: false, identity, args: ['commit-tree', tree, '-p', head, '-p', sha, '-m', message] });
};

type Move = { readonly branch: string; readonly head: string; readonly target: string; readonly fallback: string };

/** Files first (Git checks all of them before it writes one), then the branch; a branch that moved meanwhile puts the files back. */
const moveTree = async ({ git, repository }: Publish, { branch, head, target, fallback }: Move): Promise<void> => {
  const call = { ...userCall(repository), readOnly: false };
  await refuseCovered(git, repository, { head, target, fallback });
  await git.run({ ...call, args: ['update-index', '-q', '--refresh'], okCodes: [0, 1] });
  await git.run({ ...call, args: ['read-tree', '-m', '-u', head, target] }).catch((thrown: unknown) => {
    const stderr = stderrOf(thrown);
    if (!/would be overwritten|would be removed|not uptodate|Untracked working tree/i.test(stderr)) throw thrown;
    throw new OrreryError('dirty_tree', 'Files that Git does not track are in the way of the result.', {
      rule: stderr.split('\n')[0],
      fix: byBranch(fallback),
      cause: thrown,
    });
  });
  try {
    await git.run({ ...call, args: ['update-ref', '-m', 'orrery: apply', `refs/heads/${branch}`, target, head] });
  } catch (thrown) {
    await git.run({ ...call, args: ['read-tree', '-m', '-u', target, head] });
    throw thrown;
  }
};

/** Git overwrites ignored files that are in the way of new ones; here they are work like any other. */
const refuseCovered = async (git: Git, repository: string, { head, target, fallback }: Omit<Move, 'branch'>): Promise<void> => {
  const { stdout } = await git.run({
    ...userCall(repository),
    args: ['diff-tree', '-r', '-z', '--name-only', '--diff-filter=A', '--no-renames', head, target],
  });
  const covered = stdout
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && lookAt(join(repository, path))?.isDirectory() === false);
  if (covered.length === 0) return;
  throw new OrreryError(
    'dirty_tree',
    `Files that Git does not track are in the way of the result: ${covered.slice(0, 3).join(', ')}${covered.length > 3 ? ' …' : ''}.`,
    {
      rule: 'A file that is not committed is never overwritten.',
      fix: byBranch(fallback),
      details: { paths: covered.slice(0, 100) },
    },
  );
};
