// What was copied into a checkout is written down beside it, out of reach of its programs: it never leaves again.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { absoluteBytes, isErrno, lookAt } from '../files/tree-walk.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { slotPaths } from './model.ts';

/** Paths from the root of the checkout, with the SHA-256 of what was copied there. */
export type CopiedRecord = Readonly<Record<string, string>>;

const recordSchema = z.record(z.string(), z.string());

/** What was copied into a checkout; empty when nothing was. */
export const readCopied = async ({ copied }: { readonly copied: string }): Promise<CopiedRecord> => {
  const text = await readFile(copied, 'utf8').catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  });
  return text === null ? {} : recordSchema.parse(JSON.parse(text));
};

/** The paths of it. */
export const copiedPaths = async (view: { readonly copied: string }): Promise<string[]> => Object.keys(await readCopied(view));

/**
 * Adds to the record before anything is copied: a path that was copied once never comes back, whatever becomes of it. The
 * checkout's own Git is told to ignore them, too.
 */
export const noteCopied = async (
  { tree, copied }: { readonly tree: string; readonly copied: string },
  paths: CopiedRecord,
): Promise<void> => {
  const all = { ...(await readCopied({ copied })), ...paths };
  await writeDurably(copied, JSON.stringify(all));
  const lines = Object.keys(all).map((path) => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}\n`);
  const exclude = '.git/info/exclude';
  if (hasPlainParents(tree, exclude)) await putCopy(tree, { path: exclude, content: Buffer.from(lines.join('')), mode: 0o644 });
};

/** Takes the copies of one checkout for those of another: a copy of its files has them at the same places. */
export const inheritCopied = async (from: string, to: string): Promise<void> => {
  const record = await readCopied(slotPaths(from));
  if (Object.keys(record).length > 0) await noteCopied(slotPaths(to), record);
};

/** Writes one copy below the root of a checkout in which no program runs yet. */
export const putCopy = async (
  tree: string,
  { path, content, mode }: { readonly path: string; readonly content: Uint8Array; readonly mode: number },
): Promise<void> => {
  const target = join(tree, path);
  await mkdir(dirname(target), { recursive: true });
  if (lookAt(target) !== null) await unlink(target);
  const file = await open(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
};

/** Takes away the copies that are still as they were copied: of what the user has nothing needs to be kept. Then the record. */
export const dropCopies = async ({ tree, copied }: { readonly tree: string; readonly copied: string }): Promise<void> => {
  for (const [path, hash] of Object.entries(await readCopied({ copied }))) {
    const at = absoluteBytes(tree, Buffer.from(path).toString('latin1'));
    if (!hasPlainParents(tree, path) || lookAt(at)?.isFile() !== true) continue;
    if (hashOf(await readFile(at)) === hash) await unlink(at);
  }
  await unlink(copied).catch((thrown: unknown) => {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  });
};

/** Whether every folder on the way to a path is a folder itself, or is not there. */
export const hasPlainParents = (root: string, path: string): boolean => {
  const parts = path.split('/').slice(0, -1);
  return parts.every((_, index) => {
    const found = lookAt(join(root, ...parts.slice(0, index + 1)));
    return found === null || found.isDirectory();
  });
};

export const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
