// What becomes of files of Git LFS in a checkout: what a result says of them, and how a checkout gets rid of them.
import { unlink } from 'node:fs/promises';
import { absoluteBytes, isErrno, showBytes, type BytePath } from '../files/tree-walk.ts';
import { LFS_POINTER_BYTES } from '../git/limits.ts';
import { inLfs, readPointers } from '../git/lfs/pointer.ts';
import { readLfs, untouchedTimes } from '../git/lfs/record.ts';
import type { Git } from '../git/run.ts';
import { viewCall, type CheckoutView } from '../git/snapshot.ts';
import { hasPlainParents } from './copied.ts';

/** Paths that one sentence names. */
const NAMED = 5;

/**
 * Says which files that belong into Git LFS a result has as plain files, because they were changed or are new: the node makes
 * no objects of them, and nothing of them is lost.
 */
export const describeLfs = async (
  view: CheckoutView,
  { base, tree }: { readonly base: string; readonly tree: string },
): Promise<readonly string[]> => {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--diff-filter=AMT', base, tree];
  const { stdout } = await view.git.run({ gitDir: view.mirror, args });
  const words = stdout.toString('latin1').split('\0');
  const blobs = new Map<BytePath, string>();
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [, mode = '', , blob = ''] = (words[at] ?? '').slice(1).split(' ');
    if (mode.startsWith('100')) blobs.set(words[at + 1] ?? '', blob);
  }
  const named = await inLfs(view.git, viewCall(view), [...blobs.keys()]);
  const plain = await withoutPointer(view.git, view.mirror, new Map([...blobs].filter(([path]) => named.has(path))));
  if (plain.length === 0) return [];
  const bytes = plain.reduce((sum, { size }) => sum + size, 0);
  const shown = plain.slice(0, NAMED).map(({ path }) => showBytes(path));
  const more = plain.length > NAMED ? ` and ${plain.length - NAMED} more` : '';
  return [
    `${shown.join(', ')}${more}: kept in Git LFS and changed here; the result has them as plain files (${bytes} bytes together). With git-lfs installed, make them pointers again before you merge: git add --renormalize ${shown[0]}`,
  ];
};

const withoutPointer = async (git: Git, gitDir: string, blobs: ReadonlyMap<BytePath, string>) => {
  if (blobs.size === 0) return [];
  const input = [...blobs.values()].map((blob) => `${blob}\n`).join('');
  const sizes = (await git.text({ gitDir, args: ['cat-file', '--batch-check=%(objectsize)'], input })).split('\n').map(Number);
  const all = [...blobs].map(([path, blob], index) => ({ path, blob, size: sizes[index] ?? 0 }));
  const small = all.filter(({ size }) => size < LFS_POINTER_BYTES);
  const pointers = await readPointers(
    git,
    { gitDir },
    small.map(({ blob }) => blob),
  );
  return all.filter(({ blob }) => !pointers.has(blob));
};

/** Takes away the files of Git LFS that nobody touched, of a checkout whose work is saved. Then the record. */
export const dropLfs = async (view: Pick<CheckoutView, 'tree' | 'lfs'>): Promise<void> => {
  for (const path of untouchedTimes(view.tree, await readLfs(view)).keys())
    if (hasPlainParents(view.tree, Buffer.from(path, 'latin1').toString('utf8'))) await unlink(absoluteBytes(view.tree, path));
  await unlink(view.lfs).catch((thrown: unknown) => {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  });
};
