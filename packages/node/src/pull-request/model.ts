// Glossary. A pull request here is a row: the branch of a task or of an environment of its own at a code host, and what its
// host made of it. Its subject is that task or environment. The row is written before each step that the host sees, so that
// whoever asks again goes on with it.

import { OrreryError, type LeftOut, type PullRequest, type PullRequestState } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import type { Pull } from '../codehost/codehost.ts';
import { oneLine } from '../codehost/words.ts';
import { isRefName } from '../git/names.ts';
import { toInstant } from '../kernel/clock.ts';
import type { PullRequestTable } from '../store/pull-request-table.ts';

export type PullRequestRow = Selectable<PullRequestTable>;

/** What a pull request is of, as the slice that has it knows it. */
export type Subject = {
  readonly kind: 'task' | 'environment';
  readonly id: string;
  readonly project: { readonly id: string; readonly name: string };
  /** The command that opens one, for advice: `task pr tsk_…`. */
  readonly command: string;
  readonly branch: string;
  /** Branches that it may be meant for, the likeliest first. */
  readonly bases: readonly string[];
  readonly title: string;
  readonly body: string;
  /** Addresses of the remotes of its project. */
  remotes(): Promise<readonly string[]>;
  /**
   * The commit that is to be pushed, in the mirror, and the one that the work began at. `before`: the commit that was pushed
   * last. Rejects when there is none (yet).
   */
  head(asked: {
    readonly title: string;
    readonly without: LeftOut;
    readonly before: string | null;
  }): Promise<{ readonly baseSha: string; readonly headSha: string }>;
};

/** One as clients see it. */
export const toPullRequest = (row: PullRequestRow): PullRequest => ({
  id: row.id,
  host: row.host,
  repository: row.repository,
  state: row.state as PullRequestState,
  number: row.number,
  url: row.url,
  title: row.title,
  draft: row.draft === 1,
  branch: row.branch,
  base: row.base,
  headSha: row.pushed_sha,
  createdAt: toInstant(row.created_at),
  changedAt: toInstant(row.changed_at),
  checkedAt: row.checked_at === null ? null : toInstant(row.checked_at),
});

/** What a host says of one, as columns. */
export const seenAt = (pull: Pull, nowMs: number) => ({
  number: pull.number,
  url: pull.url,
  state: pull.state,
  title: pull.title.slice(0, 250),
  draft: pull.draft ? 1 : 0,
  base: pull.base,
  checked_at: nowMs,
});

/** Of what a host has of a branch, the one that is meant: an open one, else one that already has this commit. */
export const meant = (found: readonly Pull[], headSha: string): Pull | null =>
  found.find(({ state }) => state === 'open') ?? found.find((pull) => pull.headSha === headSha) ?? null;

/** Throws `invalid_input` for what Git does not take as the name of a branch. */
export const checkBranch = (branch: string, command: string): void => {
  if (isRefName(`refs/heads/${branch}`) && !branch.startsWith('-') && branch !== 'HEAD' && branch !== '@') return;
  throw new OrreryError('invalid_input', `"${branch.slice(0, 100)}" is not a branch name.`, {
    rule: 'Letters, digits and . _ - / only; no "..", no leading or trailing "/", no leading "-" or ".".',
    fix: `orrery ${command} --branch NAME`,
  });
};

/** The base that was asked for, else the first likely one that the host has; null: the host's default is to be asked for. */
export const chooseBase = (
  { bases }: Pick<Subject, 'bases'>,
  { asked, branch, branches }: { asked: string | null; branch: string; branches: ReadonlyMap<string, string> },
): string | null => asked ?? bases.find((one) => branches.has(one) && one !== branch) ?? null;

/** Names that can stand in a command as they are. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/;

/** Throws unless the base, whoever chose it, is another branch than the one that is pushed, and one that the host has. */
export const checkBase = (
  base: string,
  { branch, branches, where, command }: { branch: string; branches: ReadonlyMap<string, string>; where: string; command: string },
): void => {
  if (!branches.has(base)) {
    const other = [...branches.keys()].find((one) => one !== branch && plainName.test(one)) ?? 'NAME';
    const first = `git push REMOTE ${plainName.test(base) ? base : 'NAME'}`;
    throw new OrreryError('unknown_name', `${where} has no branch "${oneLine(base, 100)}".`, {
      rule: 'A pull request goes into a branch that is there.',
      fix: branches.size === 0 ? first : `orrery ${command} --base ${other}`,
    });
  }
  if (base !== branch) return;
  throw new OrreryError('invalid_input', `The branch ${branch} would go into itself.`, {
    rule: 'A pull request goes from one branch into another.',
    fix: `orrery ${command} --branch NAME`,
  });
};

export const branchForeign = (
  branch: string,
  { where, sha, command }: { where: string; sha: string; command: string },
): OrreryError =>
  new OrreryError('conflict', `The branch ${branch} of ${where} is at ${sha.slice(0, 10)}, which this node did not push.`, {
    rule: 'A branch is moved forward, or replaced where it still is what the node left there; nothing of anybody else’s is overwritten.',
    fix: `orrery ${command} --branch NAME`,
  });

export const pullOver = (
  pull: { readonly number: number; readonly state: string; readonly branch: string },
  command: string,
): OrreryError =>
  new OrreryError('conflict', `The pull request #${pull.number} of ${pull.branch} is ${pull.state}.`, {
    rule: 'Nothing is pushed to one that is over, and none is opened in its place unasked.',
    fix: `As another one: orrery ${command} --branch NAME`,
  });

export const otherBase = (row: { readonly number: number | null; readonly base: string | null }, command: string): OrreryError =>
  new OrreryError('conflict', `The pull request #${row.number} goes into ${row.base}.`, {
    rule: 'Where one that is there goes is changed at its host.',
    fix: `orrery ${command}`,
  });

export const nothingChanged = (command: string): OrreryError =>
  new OrreryError('conflict', 'Nothing was changed; there is nothing to open a pull request for.', {
    rule: 'A pull request has commits that its base does not have.',
    fix: `orrery ${command.replace(' pr ', ' show ')}`,
  });
