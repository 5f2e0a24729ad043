// What was changed between two commits of a mirror, for who reviews it: a bounded list, and one file at a time.

import type { ChangeSet, FileChange } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { CHANGED_FILES, DIFF_PATCH_BYTES, FILE_DIFF_BYTES, GIT_WRITE_MS } from '../kernel/limits.ts';
import { compareRaw } from './compare.ts';
import { hunkKey, readFilePatch, type FilePatch } from './hunks.ts';
import type { Git } from './run.ts';

/** A change: two commits or trees of a bare repository of the node. */
export type Range = { readonly from: string; readonly to: string };

/** One file of it; `oldPath` where it was moved. */
export type FileOf = { readonly path: string; readonly oldPath: string | null };

/** The files of a change, with counts and sizes; the list is cut at its bound. */
export const changeSetOf = async (git: Git, gitDir: string, { from, to }: Range): Promise<ChangeSet> => {
  const { files, insertions, deletions } = await compareRaw(git, gitDir, { from, to });
  const shown = files.slice(0, CHANGED_FILES);
  const sizes = await sizesOf(
    git,
    gitDir,
    shown.flatMap(({ before, after }) => [before, after]),
  );
  return {
    baseSha: from,
    headSha: to,
    files: shown.map(({ before, after, modeBefore: _mode, ...file }) => ({
      ...file,
      bytesBefore: sizes.get(before) ?? null,
      bytesAfter: sizes.get(after) ?? null,
    })),
    filesChanged: files.length,
    insertions,
    deletions,
  };
};

/** Sizes of objects that are there; a commit of a submodule is not. */
const sizesOf = async (git: Git, gitDir: string, shas: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const asked = [...new Set(shas)].filter((sha) => /[1-9a-f]/.test(sha));
  if (asked.length === 0) return new Map();
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)'];
  const answer = await git.text({ gitDir, args, input: asked.map((sha) => `${sha}\n`).join(''), timeoutMs: GIT_WRITE_MS });
  return new Map(
    answer.split('\n').flatMap((line) => {
      const [sha = '', type, size = ''] = line.split(' ');
      return type === 'blob' ? [[sha, Number(size)] as const] : [];
    }),
  );
};

/** The patch of one file, its bytes in latin1. */
export const patchOf = async (
  git: Git,
  gitDir: string,
  { from, to, path, oldPath, maxBytes }: Range & FileOf & { readonly maxBytes: number },
): Promise<FilePatch & { readonly truncated: boolean }> => {
  const args = ['diff-tree', '-r', '-p', '-M', '--full-index', '--no-ext-diff', '--no-textconv', '--no-commit-id', '--no-color'];
  const { stdout, truncated } = await git.run({
    gitDir,
    timeoutMs: GIT_WRITE_MS,
    maxOutputBytes: maxBytes,
    truncate: true,
    args: [...args, from, to, '--', path, ...(oldPath === null ? [] : [oldPath])],
  });
  const patch = readFilePatch(stdout.toString('latin1'));
  if (stdout.length === 0) throw notChanged(path);
  return { ...patch, truncated };
};

/** What was changed in one file. @throws OrreryError not_found when the change does not touch it */
export const fileChangeOf = async (
  git: Git,
  gitDir: string,
  { whole, ...asked }: Range & FileOf & { readonly whole: boolean },
): Promise<FileChange> => {
  const patch = await patchOf(git, gitDir, { ...asked, maxBytes: whole ? DIFF_PATCH_BYTES : FILE_DIFF_BYTES });
  return {
    path: asked.path,
    oldPath: asked.oldPath,
    baseSha: asked.from,
    headSha: asked.to,
    binary: patch.head.some((line) => /^Binary files .* differ$/.test(line)),
    modes: modesOf(patch.head),
    hunks: patch.hunks.map((raw) => ({
      ...raw,
      key: hunkKey(raw),
      section: asText(raw.section),
      lines: raw.lines.map(asText),
    })),
    truncated: patch.truncated,
  };
};

const modesOf = (head: readonly string[]): FileChange['modes'] => {
  const word = (name: string): string | null => head.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
  const before = word('old mode') ?? word('deleted file mode');
  const after = word('new mode') ?? word('new file mode');
  return before === null && after === null ? null : { before, after };
};

const asText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const notChanged = (path: string): OrreryError =>
  new OrreryError('not_found', `The change does not touch ${JSON.stringify(path)}.`, {
    rule: 'A file is named as the list of the change names it, one that was moved with both names.',
    fix: 'Ask for the list again.',
  });
