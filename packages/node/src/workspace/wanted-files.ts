// Which files of the user's own folder a project's `copy` names. The folder is the user's, and only read; what is named comes
// from a file of the repository, so that nothing outside of the folder, and nothing that Git would not ignore, is read.
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { lookAt, showBytes, walkTree } from '../files/tree-walk.ts';
import { userCall } from '../git/change/model.ts';
import type { Git } from '../git/run.ts';
import { COPIED_BYTES, COPIED_FILE_BYTES, COPIED_FILES } from '../kernel/limits.ts';
import { isGlob, matchPattern } from './copy-pattern.ts';

/** One file as it is to be copied. */
export type WantedFile = { readonly path: string; readonly content: Uint8Array; readonly mode: number };

/** What was found, and what was not, in words that hold names and no content. */
export type Wanted = { readonly files: readonly WantedFile[]; readonly notes: readonly string[] };

/** Folders of keys and of Git itself, wherever they are: never copied. */
const closedFolders = new Set(['.git', '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.orrery']);

/** Why a path is not copied whatever is there, or null. */
const whyClosed = (root: string, path: string, protectedPath: string): string | null => {
  const closed = path.split('/').find((part) => closedFolders.has(part.toLowerCase()));
  if (closed !== undefined) return `nothing of a folder ${closed} is copied`;
  const at = join(root, path);
  const within = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
  return within(at, protectedPath) || within(protectedPath, at) ? "nothing of the node's own data is copied" : null;
};

type Asked = {
  readonly git: Git;
  readonly root: string;
  readonly patterns: readonly string[];
  /** Where the node keeps its own things. */
  readonly protectedPath: string;
};

/**
 * Reads the files that the patterns name. One that is named by itself and missing, tracked, not ignored, closed or reached
 * through a link is left out and noted; of what a pattern with wildcards meets only what may be copied is meant. Rejects with
 * `input_too_large` beyond the limits.
 */
export const readWanted = async (asked: Asked): Promise<Wanted> => {
  const { git, root, protectedPath } = asked;
  const notes: string[] = [];
  const found = new Set<string>();
  const named = new Set<string>();
  for (const pattern of asked.patterns) {
    const paths = await filesOf(root, pattern);
    if (paths.length === 0) notes.push(`${pattern} is not there, and was not copied`);
    for (const path of paths) found.add(path);
    if (!isGlob(pattern)) named.add(pattern);
    if (found.size > COPIED_FILES)
      throw tooLarge(`names more than ${COPIED_FILES} files`, `At most ${COPIED_FILES} files are copied.`);
  }
  const leave = (path: string, why: string): false => {
    if (named.has(path)) notes.push(`${path} was not copied: ${why}`);
    return false;
  };
  const open = [...found].filter((path) => {
    const why = whyClosed(root, path, protectedPath) ?? whyNotPlain(root, path);
    return why === null || leave(path, why);
  });
  const ignored = await ignoredOf(git, root, open);
  const files: WantedFile[] = [];
  let bytes = 0;
  for (const path of open) {
    if (!ignored.has(path)) {
      leave(path, 'only files that Git ignores are, and it is tracked or not ignored');
      continue;
    }
    const file = await readInside(root, path);
    if (file === null) leave(path, 'it is no plain file inside the folder');
    else files.push(file);
    bytes += file?.content.length ?? 0;
    if (bytes > COPIED_BYTES)
      throw tooLarge(`names more than ${COPIED_BYTES} bytes`, `All copied files together have at most ${COPIED_BYTES} bytes.`);
  }
  return { files, notes };
};

const tooLarge = (what: string, rule: string): OrreryError =>
  new OrreryError('input_too_large', `copy in .orrery/orrery.yaml ${what}.`, {
    rule,
    fix: 'Name fewer or smaller files; what is large belongs into setup or a hook.',
  });

/** Plain files that a pattern names; a folder stands for the plain files in it. Names that are no text are left out. */
const filesOf = async (root: string, pattern: string): Promise<string[]> => {
  const files: string[] = [];
  for (const path of matchPattern(root, pattern)) {
    if (lookAt(join(root, path))?.isDirectory() !== true) files.push(path);
    else if (whyLinked(root, path) === null)
      for (const entry of await walkTree(join(root, path), { limit: COPIED_FILES * 10 }))
        if (entry.type === 'file') files.push(`${path}/${showBytes(entry.path)}`);
  }
  // oxlint-disable-next-line no-control-regex
  return files.filter((path) => !/[\u0000-\u001f\u007f\ufffd]/.test(path));
};

/** A link on the way leads elsewhere; a repository of its own has other rules. */
const whyLinked = (root: string, path: string): string | null => {
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth++) {
    const at = join(root, ...parts.slice(0, depth));
    const found = lookAt(at);
    if (found?.isSymbolicLink() === true) return 'it is a link, or reached through one';
    if (depth < parts.length && lookAt(join(at, '.git')) !== null) return 'it lies in a repository of its own';
  }
  return null;
};

const whyNotPlain = (root: string, path: string): string | null => {
  const linked = whyLinked(root, path);
  return linked ?? (lookAt(join(root, path))?.isFile() === true ? null : 'it is no plain file');
};

/** Paths that one command is asked about: its arguments have a bound. */
const ASKED_PATHS = 200;

/** Those that Git ignores in the user's folder and does not track. */
const ignoredOf = async (git: Git, root: string, paths: readonly string[]): Promise<ReadonlySet<string>> => {
  const ignored = new Set<string>();
  for (let at = 0; at < paths.length; at += ASKED_PATHS) {
    const some = paths.slice(at, at + ASKED_PATHS);
    const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--', ...some];
    const { stdout } = await git.run({ ...userCall(root), args });
    for (const path of stdout.toString('utf8').split('\0')) ignored.add(path);
  }
  return ignored;
};

/** The content of a plain file when it really lies inside; null for everything else. Rejects when it is too large. */
const readInside = async (root: string, path: string): Promise<WantedFile | null> => {
  const at = join(root, path);
  if ((await realpath(at)) !== at) return null;
  const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) return null;
    if (found.size > COPIED_FILE_BYTES)
      throw tooLarge(
        `names ${path}, which is ${found.size} bytes large`,
        `A copied file has at most ${COPIED_FILE_BYTES} bytes.`,
      );
    return { path, content: await file.readFile(), mode: found.mode & 0o777 };
  } finally {
    await file.close();
  }
};
