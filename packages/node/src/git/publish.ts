import { mkdirSync } from 'node:fs';
import { OrreryError } from '@orrery/protocol/errors';
import { GIT_WRITE_MS } from '../kernel/limits.ts';
import { makeChange } from './change/make.ts';
import { stagedCall, stagePaths, userCall, type Change, type ChangeTools } from './change/model.ts';
import { releaseObjects } from './change/objects.ts';
import { lockBranch } from './change/ref.ts';
import { branchRef, isSha } from './names.ts';
import type { Git, GitCall } from './run.ts';

/** The user's repository and the commit that is to be brought into it. */
export type Publish = {
  readonly projectId: string;
  readonly mirror: string;
  readonly sha: string;
  readonly repository: string;
};

/** `written`: the branch now names the commit; `unchanged`: it did already. */
export type BranchOutcome = 'written' | 'unchanged';

/**
 * Makes or fast-forwards a branch of the user's repository: its objects first, then the branch, whose lock is held. No
 * configuration, no upstream, no checked-out branch, no hook. Rejects with `conflict` when the branch is checked out
 * somewhere, holds other commits, or its name collides with another branch; then the repository is as it was.
 */
export const publishBranch = async (tools: ChangeTools, publish: Publish, branch: string): Promise<BranchOutcome> => {
  const { repository, sha } = publish;
  const ref = branchRef(branch);
  const branches = await listBranches(tools.git, repository);
  const old = branches.find((known) => known.ref === ref);
  if (old?.sha === sha) return 'unchanged';
  refuseCollision(branches, ref, branch);
  if (old !== undefined && old.worktree !== '') {
    throw new OrreryError('conflict', `The branch ${branch} is checked out at ${old.worktree}.`, {
      rule: 'A checked-out branch is never moved under its files.',
      fix: 'Choose another name: orrery task apply TASK --branch NAME',
    });
  }
  await makeChange(tools, { ...publish, branch, tree: false, old: old?.sha ?? null }, async (begun) => {
    await lockBranch(tools, begun.change, publish);
    await stageObjects(tools, begun.change, publish);
    if (old !== undefined && !(await isAncestor(tools.git, stagedCall(begun.change), { older: old.sha, newer: sha }))) {
      throw new OrreryError('conflict', `The branch ${branch} exists and holds other commits.`, {
        rule: 'A branch is made or moved forward, never overwritten.',
        fix: 'Choose another name: orrery task apply TASK --branch NAME',
      });
    }
    await releaseObjects(tools, begun.change);
    await begun.reach({ target: sha, phase: 'moved' });
  });
  return 'written';
};

/** Objects that become single files in the user's repository; more stay one pack, as after any fetch. */
const LOOSE_OBJECTS = 500;

/**
 * Brings the objects of a commit that the user's repository does not have into the stage of a change, by data alone: no
 * transport, no ref, no FETCH_HEAD, no lock of the repository.
 */
export const stageObjects = async (
  { git, step }: Pick<ChangeTools, 'git' | 'step'>,
  change: Change,
  { mirror, sha }: Publish,
): Promise<void> => {
  await step();
  mkdirSync(stagePaths(change).objects);
  const refs = await git.text({ ...userCall(change.repository), args: ['for-each-ref', '--format=%(objectname)'] });
  const theirs = [...new Set([...refs.split('\n'), ...(change.old === null ? [] : [change.old])])].filter(isSha);
  const input = `${[sha, ...(await knownOf(git, mirror, theirs)).map((one) => `^${one}`)].join('\n')}\n`;
  const from = { gitDir: mirror, timeoutMs: GIT_WRITE_MS, input };
  const count = Number(await git.text({ ...from, args: ['rev-list', '--objects', '--count', '--stdin'] }));
  if (count === 0) return;
  await git.pipe(
    { ...from, args: ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'] },
    { ...stagedCall(change), args: count <= LOOSE_OBJECTS ? ['unpack-objects', '-q'] : ['index-pack', '--stdin'] },
  );
};

/** Which of these objects the mirror has. */
const knownOf = async (git: Git, mirror: string, shas: readonly string[]): Promise<string[]> => {
  if (shas.length === 0) return [];
  const input = `${shas.join('\n')}\n`;
  const answer = await git.text({ gitDir: mirror, args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'], input });
  const lines = answer.split('\n');
  return shas.filter((_, index) => lines[index]?.endsWith(' missing') === false);
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
    fix: 'Choose another name: orrery task apply TASK --branch NAME',
  });
};
