// Glossary. An agent's Git directory is outside text: it is read as data, file by file, and no Git command ever has it
// as its directory. A tip is a commit it names: a branch, a stash entry, where an interrupted rebase began.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, lookAt, walkTree } from '../files/tree-walk.ts';
import { AGENT_PACKED_REFS_BYTES, AGENT_REFS } from '../kernel/limits.ts';
import { isRefName, isSha } from './names.ts';

/** One commit that an agent's Git directory names. */
export type Tip = { readonly ref: string; readonly sha: string };

/** What an agent's Git directory says, strictly read. Whatever is not plainly valid is left out and noted. */
export type AgentGit = {
  /** Null when HEAD leads to no commit (broken, unborn, deleted). */
  readonly headSha: string | null;
  /** Branch that HEAD names; null when detached or broken. */
  readonly branch: string | null;
  readonly tips: readonly Tip[];
  readonly inProgress: readonly string[];
  /** Text of its config file, to be compared with what the node wrote; null when missing or no plain file. */
  readonly config: string | null;
  /** Whether `.git` is a plain directory with a plain objects folder, so that objects may be copied from it. */
  readonly objectsUsable: boolean;
  readonly problems: readonly string[];
};

const operations: Record<string, string> = {
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase or am',
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisect',
};

/** Reads `<tree>/.git` as data. Never rejects for what is in it. */
export const readAgentGit = async (tree: string, root = join(tree, '.git')): Promise<AgentGit> => {
  const top = lookAt(root);
  if (top === null || !top.isDirectory()) {
    const problem = top === null ? 'its .git is gone' : 'its .git is no longer a folder';
    return { headSha: null, branch: null, tips: [], inProgress: [], config: null, objectsUsable: false, problems: [problem] };
  }
  const problems: string[] = [];
  const packed = readPackedRefs(root, problems);
  const head = readPlain(root, 'HEAD', 4096)?.trim() ?? '';
  const branch = head.startsWith('ref: ') ? head.slice(5).trim() : null;
  const headSha = branch === null ? (isSha(head) ? head : null) : resolveRef(root, branch, packed);
  if (headSha === null) problems.push('its HEAD names no commit');
  const tips = await readTips(root, packed, problems);
  const inProgress = Object.keys(operations).filter((name) => lookAt(join(root, name)) !== null);
  return {
    headSha,
    branch: branch !== null && isRefName(branch) ? branch : null,
    tips,
    inProgress: [...new Set(inProgress.map((name) => operations[name] ?? name))],
    config: readPlain(root, 'config', 64 * 1024),
    objectsUsable: lookAt(join(root, 'objects'))?.isDirectory() === true,
    problems,
  };
};

/** A file below `root` when each folder on the way is a real folder and the file is a plain one within the limit. */
export const readPlain = (root: string, relative: string, limit: number): string | null => {
  const parts = relative.split('/');
  for (let count = 1; count < parts.length; count++) {
    if (lookAt(join(root, ...parts.slice(0, count)))?.isDirectory() !== true) return null;
  }
  let descriptor: number;
  try {
    // Not following and not waiting: a link leads elsewhere, and opening a FIFO would wait for ever.
    descriptor = openSync(join(root, relative), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES', 'ENXIO', 'ENAMETOOLONG')) return null;
    throw thrown;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > limit) return null;
    const bytes = Buffer.alloc(found.size);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, found.size, 0)).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
};

const readPackedRefs = (root: string, problems: string[]): Map<string, string> => {
  const refs = new Map<string, string>();
  if (lookAt(join(root, 'packed-refs')) === null) return refs;
  const text = readPlain(root, 'packed-refs', AGENT_PACKED_REFS_BYTES);
  if (text === null) problems.push('its packed-refs is no plain file of a sane size');
  for (const line of text?.split('\n') ?? []) {
    const ref = line.slice(41);
    if (line[40] === ' ' && isSha(line.slice(0, 40)) && isRefName(ref) && refs.size < AGENT_REFS)
      refs.set(ref, line.slice(0, 40));
  }
  return refs;
};

/** Follows a ref to an object name; at most five symbolic steps, as Git does. */
const resolveRef = (root: string, start: string, packed: ReadonlyMap<string, string>): string | null => {
  let ref = start;
  for (let step = 0; step < 5; step++) {
    if (!isRefName(ref)) return null;
    const text = readPlain(root, ref, 1024)?.trim();
    if (text === undefined) return packed.get(ref) ?? null;
    if (isSha(text)) return text;
    if (!text.startsWith('ref: ')) return null;
    ref = text.slice(5).trim();
  }
  return null;
};

const readTips = async (root: string, packed: ReadonlyMap<string, string>, problems: string[]): Promise<Tip[]> => {
  const names = new Set([...packed.keys()].filter((ref) => ref.startsWith('refs/heads/')));
  for (const ref of await looseBranches(root, problems)) names.add(ref);
  const tips = [...names].flatMap((ref) => {
    const sha = resolveRef(root, ref, packed);
    return sha === null ? [] : [{ ref, sha }];
  });
  const stash = resolveRef(root, 'refs/stash', packed);
  const stashes = new Set([
    ...(stash === null ? [] : [stash]),
    ...loggedShas(readPlain(root, 'logs/refs/stash', AGENT_PACKED_REFS_BYTES)),
  ]);
  const began = ['rebase-merge/orig-head', 'rebase-apply/orig-head']
    .map((name) => readPlain(root, name, 1024)?.trim() ?? '')
    .filter(isSha);
  return [
    ...tips,
    ...[...stashes].map((sha) => ({ ref: 'refs/stash', sha })),
    ...began.map((sha) => ({ ref: 'ORIG_HEAD', sha })),
  ];
};

const looseBranches = async (root: string, problems: string[]): Promise<string[]> => {
  const heads = join(root, 'refs/heads');
  if (lookAt(join(root, 'refs'))?.isDirectory() !== true || lookAt(heads)?.isDirectory() !== true) return [];
  const found = await walkTree(heads, { limit: AGENT_REFS }).catch(() => null);
  if (found === null) problems.push('it has too many branches to look at');
  return (found ?? [])
    .filter(({ type }) => type === 'file')
    .map(({ path }) => `refs/heads/${Buffer.from(path, 'latin1').toString('utf8')}`);
};

/** New object names of a reflog's lines. */
const loggedShas = (log: string | null): string[] =>
  (log ?? '').split('\n').flatMap((line) => (isSha(line.slice(41, 81)) ? [line.slice(41, 81)] : []));
