import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { lookAt } from '../files/tree-walk.ts';

/** Loose refs of a source that are looked at; one with more is asked by Git each time. */
const MOST_REFS = 5_000;

/**
 * A text that changes whenever a ref of a repository on this machine does, told without starting Git: HEAD, packed-refs
 * and every loose ref by time, inode and size. Null where that cannot be told (a linked worktree, a reftable, too many
 * refs): then Git must be asked.
 */
export const sourceStamp = async (location: string): Promise<string | null> => {
  const gitDir = gitDirOf(location);
  if (gitDir === null || lookAt(join(gitDir, 'reftable')) !== null) return null;
  try {
    const head = await readFile(join(gitDir, 'HEAD'), 'utf8');
    const refs = await stampTree(join(gitDir, 'refs'), { left: MOST_REFS });
    return refs === null ? null : [head, await stampFile(join(gitDir, 'packed-refs')), refs].join('\n');
  } catch {
    return null;
  }
};

const gitDirOf = (location: string): string | null => {
  const inside = join(location, '.git');
  if (lookAt(inside)?.isDirectory() === true) return inside;
  return lookAt(inside) === null && lookAt(join(location, 'HEAD')) !== null && lookAt(join(location, 'refs')) !== null
    ? location
    : null;
};

const stampFile = async (path: string): Promise<string> => {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? '-' : `${found.mtimeNs}.${found.ino}.${found.size}`;
};

const stampTree = async (folder: string, budget: { left: number }): Promise<string | null> => {
  const lines = [`${folder} ${await stampFile(folder)}`];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (--budget.left < 0) return null;
    const path = join(folder, entry.name);
    const line = entry.isDirectory() ? await stampTree(path, budget) : `${path} ${await stampFile(path)}`;
    if (line === null) return null;
    lines.push(line);
  }
  return lines.join('\n');
};
