// A change without some of its parts, as a commit of its own on top of where the change began.

import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LeftOut } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { isErrno } from '../files/tree-walk.ts';
import { intentHash } from '../kernel/intent.ts';
import { DIFF_PATCH_BYTES, GIT_WRITE_MS } from '../kernel/limits.ts';
import { notChanged, patchOf, type Range } from './changes.ts';
import { compareRaw, type RawFile } from './compare.ts';
import { hunkKey, hunkText, type FilePatch, type RawHunk } from './hunks.ts';
import { unlockIndex } from './snapshot.ts';
import type { Git, GitCall } from './run.ts';

/** What is picked: all of a change but what is left out. */
export type Picking = Range & { readonly leftOut: LeftOut; readonly message: string };

/**
 * Writes the commit of a change without what is left out, its parent where the change began; the same picking is the same
 * commit. One at a time for each bare repository. Rejects with `not_found` for a file that the change does not touch,
 * `conflict` for a part it has not, or when the parts do not fit, `input_too_large` for a file too long to be taken in
 * parts, and `invalid_input` when nothing is left. No ref names the commit yet.
 */
export const commitWithout = async (git: Git, gitDir: string, { from, to, leftOut, message }: Picking): Promise<string> =>
  commitOf(git, gitDir, { from, to, tree: await treeWithout(git, gitDir, { from, to, leftOut }), message });

/** The files after a change without what is left out of it, as a tree. Rejects as `commitWithout`. */
export const treeWithout = async (git: Git, gitDir: string, { from, to, leftOut }: Omit<Picking, 'message'>): Promise<string> => {
  const { files } = await compareRaw(git, gitDir, { from, to });
  const indexFile = join(gitDir, `orrery-pick-${intentHash({ from, to, leftOut }).slice(0, 16)}`);
  const call: Omit<GitCall, 'args'> = { gitDir, indexFile, readOnly: false, timeoutMs: GIT_WRITE_MS };
  await unlockIndex(indexFile);
  try {
    await git.run({ ...call, args: ['read-tree', to] });
    for (const { path, hunks } of leftOut) {
      const file = files.find((one) => one.path === path);
      if (file === undefined) throw notChanged(path);
      if (`${path}${file.oldPath ?? ''}`.includes('\ufffd')) throw notText(path);
      const patch = hunks === undefined ? null : await partOf(git, gitDir, { from, to, file, keys: hunks });
      await (patch === null ? putBack(git, call, file) : takeOut(git, call, { path, patch }));
    }
    return await git.text({ ...call, args: ['write-tree'] });
  } finally {
    await unlink(indexFile).catch((thrown: unknown) => {
      if (!isErrno(thrown, 'ENOENT')) throw thrown;
    });
  }
};

/** The patch that takes hunks of a file out again; null: all of them are meant, and the file is as it was. */
const partOf = async (
  git: Git,
  gitDir: string,
  { from, to, file, keys }: Range & { readonly file: RawFile; readonly keys: readonly string[] },
): Promise<string | null> => {
  const { path, oldPath } = file;
  const patch = await patchOf(git, gitDir, { from, to, path, oldPath, maxBytes: DIFF_PATCH_BYTES });
  if (patch.truncated)
    throw new OrreryError('input_too_large', `The change of ${JSON.stringify(path)} is too long to be taken in parts.`, {
      rule: `A patch of more than ${DIFF_PATCH_BYTES} bytes is applied as a whole, or left out as a whole.`,
      fix: 'Leave out the file.',
    });
  const wanted = new Set(keys);
  const chosen = patch.hunks.filter((hunk) => wanted.has(hunkKey(hunk)));
  if (chosen.length !== wanted.size)
    throw new OrreryError('conflict', `The change of ${JSON.stringify(path)} has not all of those parts.`, {
      rule: 'A part is named by the key that it has in the change.',
      fix: 'Ask for the file again.',
    });
  if (chosen.length === patch.hunks.length) return null;
  if (file.status === 'type changed') throw unfit(path);
  return backwards(patch, chosen);
};

/**
 * A patch from the file after the change to the one without some of its hunks. It goes forward, with line numbers that are
 * true in that file: Git would look elsewhere for a hunk that is not where its number says, and might find it in the wrong place.
 */
export const backwards = (patch: FilePatch, chosen: readonly RawHunk[]): string => {
  const name = patch.head.find((line) => line.startsWith('+++ '))?.slice(4) ?? '';
  let moved = 0;
  const hunks = chosen.map((hunk) => {
    const text = hunkText({
      ...hunk,
      oldStart: hunk.newStart,
      oldLines: hunk.newLines,
      newStart: hunk.newStart + moved,
      newLines: hunk.oldLines,
      lines: hunk.lines.map((line) => (swapped[line[0] ?? ''] ?? line[0] ?? '') + line.slice(1)),
    });
    moved += hunk.oldLines - hunk.newLines;
    return text;
  });
  return `--- ${name.replace(/^("?)b\//, '$1a/')}\n+++ ${name}\n${hunks.join('')}`;
};

const swapped: Readonly<Record<string, string>> = { '+': '-', '-': '+' };

const takeOut = async (
  git: Git,
  call: Omit<GitCall, 'args'>,
  { path, patch }: { readonly path: string; readonly patch: string },
): Promise<void> => {
  const args = ['apply', '--cached', '--whitespace=nowarn', '-'];
  await git.run({ ...call, args, input: Buffer.from(patch, 'latin1') }).catch((thrown: unknown) => {
    throw unfit(path, thrown);
  });
};

const unfit = (path: string, cause?: unknown): OrreryError =>
  new OrreryError('conflict', `Parts of ${JSON.stringify(path)} cannot be left out alone.`, {
    rule: 'What is left out must fit exactly where it was changed.',
    fix: 'Leave out the file, or have the agent change it.',
    cause,
  });

const notText = (path: string): OrreryError =>
  new OrreryError('unsupported', `The name ${JSON.stringify(path)} is no text.`, {
    rule: 'What is left out is named by text.',
    fix: 'Apply all of it, or have the agent change it.',
  });

/** Makes one file of the index what it was before the change. */
const putBack = async (git: Git, call: Omit<GitCall, 'args'>, file: RawFile): Promise<void> => {
  const gone = file.status === 'added' || file.oldPath !== null ? [`0 ${'0'.repeat(40)}\t${file.path}\0`] : [];
  const back = file.status === 'added' ? [] : [`${file.modeBefore} ${file.before}\t${file.oldPath ?? file.path}\0`];
  await git.run({ ...call, args: ['update-index', '-z', '--index-info'], input: [...gone, ...back].join('') });
};

/** Dated as the change is: the same picking is the same commit. */
const commitOf = async (
  git: Git,
  gitDir: string,
  { from, to, tree, message }: Range & { readonly tree: string; readonly message: string },
): Promise<string> => {
  if (tree === (await git.text({ gitDir, args: ['rev-parse', '--verify', `${from}^{tree}`] })))
    throw new OrreryError('invalid_input', 'Everything of the change is left out.', {
      rule: 'A change is applied in part when a part is left.',
      fix: 'Leave out less, or do not apply it.',
    });
  const seconds = await git.text({ gitDir, args: ['show', '-s', '--format=%ct', to] });
  const who = `Orrery <orrery@localhost> ${seconds} +0000`;
  const input = `tree ${tree}\nparent ${from}\nauthor ${who}\ncommitter ${who}\n\n${message}\n`;
  return git.text({ gitDir, readOnly: false, args: ['hash-object', '-t', 'commit', '-w', '--stdin'], input });
};
