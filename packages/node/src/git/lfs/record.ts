// What a checkout has of Git LFS is written down beside it: so the node knows the contents that it put there itself, and
// commits have their pointers for them.
import { lstatSync, type BigIntStats } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { absoluteBytes, isErrno, lookAt, showBytes, type BytePath } from '../../files/tree-walk.ts';
import type { Git, GitCall } from '../run.ts';
import { contentOf } from './objects.ts';

const fileSchema = z.object({
  path: z.string(),
  sha: z.string(),
  oid: z.string(),
  size: z.number(),
  blob: z.string(),
  program: z.boolean(),
});

const recordSchema = z.object({ mtimeMs: z.number(), files: z.array(fileSchema) });

/** A file that was filled: the blob of its pointer, its object, and the name that its content would have as a blob. */
export type FilledFile = z.output<typeof fileSchema>;

/** All of a checkout, and the time that they were given. */
export type LfsRecord = z.output<typeof recordSchema>;

/** What was filled in a checkout; no files when nothing was. */
export const readLfs = async ({ lfs }: { readonly lfs: string }): Promise<LfsRecord> => {
  const text = await readFile(lfs, 'utf8').catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
    throw thrown;
  });
  return text === null ? { mtimeMs: 0, files: [] } : recordSchema.parse(JSON.parse(text));
};

/** A file of the work tree that a commit has as a pointer. */
export type AsPointer = { readonly sha: string; readonly mode: string };

/** Those of changed files whose content is, byte for byte, what the node put into the checkout: wherever they lie now. */
export const asPointers = async (
  tree: string,
  { files }: LfsRecord,
  paths: readonly BytePath[],
): Promise<ReadonlyMap<BytePath, AsPointer>> => {
  const found = new Map<BytePath, AsPointer>();
  if (files.length === 0) return found;
  const sizes = new Set(files.map(({ size }) => size));
  const byOid = new Map(files.map((file) => [file.oid, file]));
  for (const path of paths) {
    const at = lookAt(absoluteBytes(tree, path));
    // Git names such paths by bytes, the system's calls here by text; one that is no text is taken as any file.
    const shown = showBytes(`${Buffer.from(tree).toString('latin1')}/${path}`);
    if (at?.isFile() !== true || !sizes.has(at.size) || (at.mode & 0o400) === 0 || shown.includes('\ufffd')) continue;
    const file = byOid.get((await contentOf(shown, at.size))?.oid ?? '');
    if (file !== undefined) found.set(path, { sha: file.sha, mode: (at.mode & 0o100) === 0 ? '100644' : '100755' });
  }
  return found;
};

/** Puts pointers into an index. */
export const putPointers = async (
  git: Git,
  call: Omit<GitCall, 'args'>,
  pointers: ReadonlyMap<BytePath, AsPointer>,
): Promise<void> => {
  if (pointers.size === 0) return;
  const lines = [...pointers].map(([path, { sha, mode }]) => `${mode} ${sha}\t${path}\0`);
  const args = ['update-index', '-z', '--add', '--replace', '--index-info'];
  await git.run({ ...call, readOnly: false, args, input: Buffer.from(lines.join(''), 'latin1') });
};

/** The times of files that are as the node put them, for an index. */
export const untouchedTimes = (tree: string, { files, mtimeMs }: LfsRecord): ReadonlyMap<string, BigIntStats> => {
  const found = new Map<string, BigIntStats>();
  for (const { path, size } of files) {
    const at = lstatSync(absoluteBytes(tree, path), { bigint: true, throwIfNoEntry: false });
    if (at?.isFile() === true && at.size === BigInt(size) && at.mtimeMs === BigInt(mtimeMs)) found.set(path, at);
  }
  return found;
};

/** Blobs of contents that the node put into a checkout, with those of their pointers: commits have these in their place. */
export const pointersByContent = ({ files }: LfsRecord): ReadonlyMap<string, string> =>
  new Map(files.map(({ blob, sha }) => [blob, sha]));
