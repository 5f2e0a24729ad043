// Glossary. A mirror is the node's own bare copy of a project's objects and refs. Checkouts borrow its objects, so
// nothing in it is ever pruned. Its refs/heads, refs/tags and refs/remotes follow the source; refs/orrery is the node's.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { writeDurably } from '../kernel/durable-file.ts';
import { GIT_FETCH_MS, GIT_WRITE_MS } from '../kernel/limits.ts';
import { makeGitDir } from './git-dir.ts';
import { isRefName, isSha } from './names.ts';
import { stderrOf, type Git, type GitProtocol } from './run.ts';

/** Where a mirror is fetched from. */
export type MirrorSource = { readonly location: string; readonly protocols: readonly GitProtocol[] };

/** What the source's HEAD is: `sha` null when there is no commit, `branch` null when detached or without commits. */
export type SourceHead = { readonly sha: string | null; readonly branch: string | null };

/** Where the source's HEAD is kept in the mirror. */
export const headRef = 'refs/orrery/head';

/** Makes an empty mirror. The folder must not exist. */
export const makeMirror = (path: string): Promise<void> =>
  makeGitDir({ path, kind: 'mirror', head: 'refs/heads/none', alternates: [] });

/**
 * Brings the mirror up to its source and answers the source's HEAD. Reads the source's refs first and fetches only when
 * one moved. Nothing of the source is written. Rejects with `repository_unusable` when the source cannot be read.
 */
export const refreshMirror = async (
  git: Git,
  mirror: string,
  source: MirrorSource,
): Promise<SourceHead & { readonly fetched: boolean }> => {
  const listed = await readRemote(git, source);
  const { sha, branch } = readHead(listed);
  const fingerprint = createHash('sha256').update(`${source.location}\n${listed}`).digest('hex');
  const known = await readFile(join(mirror, 'orrery-source'), 'utf8').catch(() => '');
  if (known === fingerprint) return { sha, branch, fetched: false };
  if (/^[0-9a-f]{40}\t/m.test(listed)) await fetchAll(git, mirror, { ...source, withHead: sha !== null });
  await writeFile(join(mirror, 'orrery-source'), fingerprint);
  return { sha, branch, fetched: true };
};

const readRemote = async (git: Git, { location, protocols }: MirrorSource): Promise<string> => {
  try {
    return await git.text({
      profile: 'user',
      protocols,
      timeoutMs: GIT_WRITE_MS,
      args: ['ls-remote', '--symref', '--', location],
    });
  } catch (thrown) {
    throw cannotRead(location, thrown);
  }
};

const readHead = (listed: string): SourceHead => {
  const sha = /^([0-9a-f]{40})\tHEAD$/m.exec(listed)?.[1] ?? null;
  const ref = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null;
  return { sha, branch: ref !== null && isRefName(`refs/heads/${ref}`) ? ref : null };
};

const fetchAll = async (
  git: Git,
  mirror: string,
  { location, protocols, withHead }: MirrorSource & { withHead: boolean },
): Promise<void> => {
  const quiet = [
    '--quiet',
    '--force',
    '--prune',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--update-shallow',
  ];
  const specs = [
    '+refs/heads/*:refs/heads/*',
    '+refs/tags/*:refs/tags/*',
    '+refs/remotes/*:refs/remotes/*',
    ...(withHead ? [`+HEAD:${headRef}`] : []),
  ];
  try {
    await git.run({
      profile: 'user',
      gitDir: mirror,
      protocols,
      readOnly: false,
      timeoutMs: GIT_FETCH_MS,
      args: ['fetch', ...quiet, '--', location, ...specs],
    });
  } catch (thrown) {
    throw cannotRead(location, thrown);
  }
};

const cannotRead = (location: string, thrown: unknown): OrreryError => {
  const stderr = stderrOf(thrown);
  const line =
    stderr.split('\n').find((text) => /^(fatal|error|remote):/.test(text)) ??
    (thrown instanceof OrreryError ? thrown.message : '');
  return new OrreryError('repository_unusable', `${location} cannot be fetched.`, {
    rule: line === '' ? undefined : line,
    fix: `See what Git says: git ls-remote "${location}"`,
    cause: thrown,
  });
};

/** What a commit's files say about the repository's shape, in sentences for people. */
export const describeCommit = async (git: Git, mirror: string, commit: string): Promise<string[]> => {
  const { stdout } = await git.run({ gitDir: mirror, args: ['ls-tree', '-r', '-z', '--full-tree', commit] });
  const entries = stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '');
  const submodules = entries.filter((line) => line.startsWith('160000')).map((line) => line.slice(line.indexOf('\t') + 1));
  const attributes = entries
    .filter((line) => /\t(.*\/)?\.gitattributes$/.test(line) && line.startsWith('100'))
    .map((line) => line.slice(12, 52))
    .filter(isSha);
  const texts =
    attributes.length === 0
      ? ''
      : await git.text({ gitDir: mirror, args: ['cat-file', '--batch'], input: `${attributes.slice(0, 200).join('\n')}\n` });
  return [
    ...(entries.length === 0 ? ['its first commit is empty'] : []),
    ...(submodules.length > 0
      ? [
          `submodules are not filled in checkouts unless .orrery/orrery.yaml says so: ${submodules.slice(0, 5).join(', ')}${submodules.length > 5 ? ' …' : ''}`,
        ]
      : []),
    ...(/\bfilter=lfs\b/.test(texts)
      ? ['files in Git LFS are pointers in checkouts, unless .orrery/orrery.yaml says lfs: fetch']
      : []),
    ...(/\bfilter=(?!lfs\b)\S/.test(texts) ? ['clean and smudge filters are not run in checkouts'] : []),
  ];
};

/** Sets a ref of the node in a mirror; `old` null: it must not exist yet, undefined: whatever it is. */
export const setRef = async (
  git: Git,
  mirror: string,
  { ref, sha, old }: { ref: string; sha: string; old?: string | null },
): Promise<void> => {
  const expected = old === undefined ? [] : [old ?? '0'.repeat(40)];
  await git.run({ gitDir: mirror, readOnly: false, args: ['update-ref', '--create-reflog', ref, sha, ...expected] });
};

/**
 * Names a commit that the mirror has by a ref below `refs/orrery/` that nobody else sets, whatever it was. Written by hand,
 * as Git would leave it: a person waits for it, and it is ten times faster than a process.
 */
export const writeRef = async (mirror: string, { ref, sha }: { ref: string; sha: string }): Promise<void> => {
  if (!ref.startsWith('refs/orrery/') || !isRefName(ref) || !isSha(sha)) throw new Error(`${ref} cannot be set to ${sha}`);
  const path = join(mirror, ref);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeDurably(path, `${sha}\n`);
};

/** Refs of a mirror below some prefixes, with their commits. */
export const listRefs = async (
  git: Git,
  mirror: string,
  ...prefixes: readonly string[]
): Promise<{ ref: string; sha: string }[]> => {
  const answer = await git.text({ gitDir: mirror, args: ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes] });
  return answer === '' ? [] : answer.split('\n').map((line) => ({ sha: line.slice(0, 40), ref: line.slice(41) }));
};

/** Boundary commits of a mirror whose history is shallow; null when it is whole. */
export const readShallow = (mirror: string): Promise<string | null> =>
  readFile(join(mirror, 'shallow'), 'utf8').catch(() => null);
