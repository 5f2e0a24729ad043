import { OrreryError } from '@orrery/protocol/errors';
import { GIT_WRITE_MS } from '../kernel/limits.ts';
import { branchRef } from './names.ts';
import type { Git, GitCall } from './run.ts';

/** The user's repository and the commit that is to be brought into it. */
export type Publish = {
  readonly git: Git;
  readonly mirror: string;
  /** Ref of the mirror that names `sha`. */ readonly ref: string;
  readonly sha: string;
  readonly repository: string;
};

/** `written`: the branch now names the commit; `unchanged`: it did already. */
export type BranchOutcome = 'written' | 'unchanged';

/** The call settings of every command on the user's repository: its own configuration counts, hooks stay off. */
export const userCall = (repository: string): Omit<GitCall, 'args'> => ({
  profile: 'user',
  cwd: repository,
  timeoutMs: GIT_WRITE_MS,
});

/**
 * Makes or fast-forwards a branch of the user's repository. Objects are fetched without touching a ref, then the branch
 * is set with its old value as a condition. No configuration, no upstream, no checked-out branch, no hook. Rejects with
 * `conflict` when the branch is checked out somewhere, holds other commits, or its name collides with another branch.
 */
export const publishBranch = async (publish: Publish, branch: string): Promise<BranchOutcome> => {
  const { git, repository, sha } = publish;
  const ref = branchRef(branch);
  const call = userCall(repository);
  const branches = await listBranches(git, repository);
  const old = branches.find((known) => known.ref === ref);
  if (old?.sha === sha) return 'unchanged';
  refuseCollision(branches, ref, branch);
  if (old !== undefined && old.worktree !== '') {
    throw new OrreryError('conflict', `The branch ${branch} is checked out at ${old.worktree}.`, {
      rule: 'A checked-out branch is never moved under its files.',
      fix: 'Choose another name: --branch <name>',
    });
  }
  await fetchObjects(publish);
  if (old !== undefined && !(await isAncestor(git, call, { older: old.sha, newer: sha }))) {
    throw new OrreryError('conflict', `The branch ${branch} exists and holds other commits.`, {
      rule: 'A branch is made or moved forward, never overwritten.',
      fix: 'Choose another name: --branch <name>',
    });
  }
  await git.run({ ...call, readOnly: false, args: ['update-ref', '-m', 'orrery: apply', ref, sha, old?.sha ?? '0'.repeat(40)] });
  return 'written';
};

/** Brings the objects of a commit into the user's repository; no ref, no FETCH_HEAD, no configuration is written. */
export const fetchObjects = async ({ git, mirror, ref, repository }: Publish): Promise<void> => {
  const quiet = [
    '--quiet',
    '--no-tags',
    '--no-prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--refmap=',
    '--update-shallow',
  ];
  await git.run({ ...userCall(repository), readOnly: false, args: ['fetch', ...quiet, '--', mirror, ref] });
};

/** Whether `older` is `newer` or an ancestor of it. */
export const isAncestor = async (
  git: Git,
  call: Omit<GitCall, 'args'>,
  { older, newer }: { older: string; newer: string },
): Promise<boolean> =>
  (await git.run({ ...call, args: ['merge-base', '--is-ancestor', older, newer], okCodes: [0, 1] })).code === 0;

type Branch = {
  readonly ref: string;
  readonly sha: string;
  /** Where it is checked out; empty when nowhere. */ readonly worktree: string;
};

const listBranches = async (git: Git, repository: string): Promise<Branch[]> => {
  const format = '%(objectname)%00%(refname)%00%(worktreepath)';
  const answer = await git.text({ ...userCall(repository), args: ['for-each-ref', `--format=${format}`, 'refs/heads/'] });
  return answer === ''
    ? []
    : answer.split('\n').map((line) => {
        const [sha = '', ref = '', worktree = ''] = line.split('\0');
        return { sha, ref, worktree };
      });
};

const refuseCollision = (branches: readonly Branch[], ref: string, branch: string): void => {
  const other = branches.find((known) => known.ref.startsWith(`${ref}/`) || ref.startsWith(`${known.ref}/`));
  if (other === undefined) return;
  throw new OrreryError('conflict', `The branch ${branch} cannot be made beside the branch ${other.ref.slice(11)}.`, {
    rule: 'In Git a branch name cannot be a folder of another.',
    fix: 'Choose another name: --branch <name>',
  });
};
