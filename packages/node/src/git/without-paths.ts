// Commits of an agent's, made anew without some paths: files that the node copied into a checkout must not come back in
// commits, also when an agent added them by force. Works in a quarantine directory, before anything reaches a mirror.
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { isErrno, type BytePath } from '../files/tree-walk.ts';
import { GIT_WRITE_MS, REWRITTEN_COMMITS } from '../kernel/limits.ts';
import { isSha } from './names.ts';
import type { Git, GitCall } from './run.ts';

/**
 * `mirror`: commits that it has are not the agent's and stay as they are. `replaced`: blobs, with the blobs that are to be in
 * their place.
 */
type Rewrite = {
  readonly tips: readonly string[];
  readonly base: string;
  readonly mirror: string;
  readonly paths: readonly BytePath[];
  readonly replaced: ReadonlyMap<string, string>;
};

type Unwanted = Pick<Rewrite, 'paths' | 'replaced'>;

type Commit = { readonly sha: string; readonly parents: readonly string[] };

/**
 * Makes every commit from `base` to `tips` anew that holds one of `paths` or `replaced`, and every one after it. Author, dates and message
 * stay, a signature goes. Answers the new commits by the ones they stand for; empty: nothing of the kind was found. The same
 * commits give the same ones each time. Rejects with `input_too_large` beyond the limit.
 */
export const rewriteWithout = async (
  git: Git,
  gitDir: string,
  { tips, base, mirror, paths, replaced }: Rewrite,
): Promise<ReadonlyMap<string, string>> => {
  const anew = new Map<string, string>();
  const present = await presentOf(git, gitDir, { tips, base, replaced });
  if (paths.length === 0 && present.size === 0) return anew;
  const commits = await notIn(git, mirror, await listCommits(git, gitDir, { tips, base }));
  const holding = new Set([
    ...(await commitsHolding(git, gitDir, { commits, paths })),
    ...(await commitsWith(git, gitDir, { commits, replaced: present })),
  ]);
  if (holding.size === 0) return anew;
  for (const { sha, parents } of commits) {
    if (!holding.has(sha) && !parents.some((parent) => anew.has(parent))) continue;
    if (anew.size >= REWRITTEN_COMMITS)
      throw new OrreryError('input_too_large', `More than ${REWRITTEN_COMMITS} commits hold files that were copied in.`, {
        rule: `At most ${REWRITTEN_COMMITS} commits are made anew without files that the project has copied into checkouts (copy, lfs).`,
      });
    const tree = holding.has(sha) ? await treeWithout(git, gitDir, { sha, paths, replaced: present }) : null;
    anew.set(sha, await commitAnew(git, gitDir, { sha, tree, anew }));
  }
  return anew;
};

/** Every commit that the base does not have, parents before children. */
const listCommits = async (
  git: Git,
  gitDir: string,
  { tips, base }: { tips: readonly string[]; base: string },
): Promise<Commit[]> => {
  const args = ['rev-list', '--topo-order', '--reverse', '--parents', '--stdin'];
  const listed = await git.text({ gitDir, timeoutMs: GIT_WRITE_MS, args, input: `${tips.join('\n')}\n^${base}\n` });
  return listed
    .split('\n')
    .map((line) => line.split(' ').filter(isSha))
    .flatMap(([sha, ...parents]) => (sha === undefined ? [] : [{ sha, parents }]));
};

const notIn = async (git: Git, mirror: string, commits: readonly Commit[]): Promise<Commit[]> => {
  const input = commits.map(({ sha }) => `${sha}\n`).join('');
  const answer = await git.text({ gitDir: mirror, args: ['cat-file', '--batch-check=%(objecttype)'], input });
  const lines = answer.split('\n');
  return commits.filter((_, index) => lines[index] !== 'commit');
};

const commitsHolding = async (
  git: Git,
  gitDir: string,
  { commits, paths }: { commits: readonly Commit[]; paths: readonly BytePath[] },
): Promise<ReadonlySet<string>> => {
  const holding = new Set<string>();
  for (const path of paths) {
    const input = Buffer.from(commits.map(({ sha }) => `${sha}:${path}\n`).join(''), 'latin1');
    const args = ['cat-file', '--batch-check=%(objectname)'];
    const { stdout } = await git.run({ gitDir, timeoutMs: GIT_WRITE_MS, args, input });
    const answers = stdout.toString('latin1').split('\n');
    for (const [index, { sha }] of commits.entries()) if (isSha(answers[index] ?? '')) holding.add(sha);
  }
  return holding;
};

/** Those of `replaced` that any of the commits brings along: mostly none, and nothing more is looked at. */
const presentOf = async (
  git: Git,
  gitDir: string,
  { tips, base, replaced }: Pick<Rewrite, 'tips' | 'base' | 'replaced'>,
): Promise<ReadonlyMap<string, string>> => {
  if (replaced.size === 0) return replaced;
  const args = ['rev-list', '--objects', '--no-object-names', '--stdin'];
  const listed = await git.text({ gitDir, timeoutMs: GIT_WRITE_MS, args, input: `${tips.join('\n')}\n^${base}\n` });
  const named = new Set(listed.split('\n'));
  return new Map([...replaced].filter(([blob]) => named.has(blob)));
};

const commitsWith = async (
  git: Git,
  gitDir: string,
  { commits, replaced }: { commits: readonly Commit[]; replaced: ReadonlyMap<string, string> },
): Promise<readonly string[]> => {
  if (replaced.size === 0) return [];
  const found: string[] = [];
  for (const { sha } of commits) {
    const { stdout } = await git.run({ gitDir, timeoutMs: GIT_WRITE_MS, args: ['ls-tree', '-r', '-z', '--full-tree', sha] });
    if (entriesOf(stdout).some(({ blob }) => replaced.has(blob))) found.push(sha);
  }
  return found;
};

/** Lines of `ls-tree -r` or `ls-files --stage`. */
const entriesOf = (stdout: Buffer): { readonly mode: string; readonly blob: string; readonly path: BytePath }[] =>
  stdout
    .toString('latin1')
    .split('\0')
    .flatMap((line) => {
      const [, mode = '', blob = '', path = ''] = /^(\d{6}) (?:blob )?([0-9a-f]{40})(?: 0)?\t([^]*)$/.exec(line) ?? [];
      return path === '' ? [] : [{ mode, blob, path }];
    });

/** The tree of a commit without the paths, and without what is below them; blobs that are replaced are others. */
const treeWithout = async (git: Git, gitDir: string, { sha, paths, replaced }: Unwanted & { sha: string }): Promise<string> => {
  const indexFile = join(gitDir, 'orrery-without');
  const call: Omit<GitCall, 'args'> = { gitDir, indexFile, readOnly: false, timeoutMs: GIT_WRITE_MS };
  try {
    await git.run({ ...call, args: ['read-tree', sha] });
    const { stdout } = await git.run({ ...call, args: ['ls-files', '-z', '--stage'] });
    const lines = entriesOf(stdout).flatMap(({ mode, blob, path: name }) => {
      if (paths.some((path) => name === path || name.startsWith(`${path}/`))) return [`0 ${'0'.repeat(40)}\t${name}\0`];
      const other = replaced.get(blob);
      return other === undefined ? [] : [`${mode} ${other}\t${name}\0`];
    });
    const input = Buffer.from(lines.join(''), 'latin1');
    await git.run({ ...call, args: ['update-index', '-z', '--index-info'], input });
    return await git.text({ ...call, args: ['write-tree'] });
  } finally {
    await unlink(indexFile).catch((thrown: unknown) => {
      if (!isErrno(thrown, 'ENOENT')) throw thrown;
    });
  }
};

/** Writes a commit with another tree or other parents; everything else of it is taken as it is, byte for byte. */
const commitAnew = async (
  git: Git,
  gitDir: string,
  { sha, tree, anew }: { sha: string; tree: string | null; anew: ReadonlyMap<string, string> },
): Promise<string> => {
  const { stdout } = await git.run({ gitDir, args: ['cat-file', 'commit', sha] });
  const text = stdout.toString('latin1');
  const end = text.indexOf('\n\n');
  const head = (end === -1 ? text : text.slice(0, end))
    // A signature is of the commit as it was.
    .replace(/^(gpgsig|gpgsig-sha256|mergetag) .*(\n .*)*\n?/gm, '')
    .replace(/^tree ([0-9a-f]{40})$/m, (line) => (tree === null ? line : `tree ${tree}`))
    .replace(/^parent ([0-9a-f]{40})$/gm, (line, parent: string) => `parent ${anew.get(parent) ?? parent}`);
  const input = Buffer.from(end === -1 ? head : `${head.replace(/\n$/, '')}${text.slice(end)}`, 'latin1');
  return git.text({ gitDir, readOnly: false, args: ['hash-object', '-t', 'commit', '-w', '--stdin'], input });
};
