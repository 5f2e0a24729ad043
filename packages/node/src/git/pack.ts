import { mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GIT_FETCH_MS } from '../kernel/limits.ts';
import { isSha } from './names.ts';
import type { Git } from './run.ts';

/** A file with objects, to be sent and then dropped. */
export type Pack = { readonly file: string; readonly bytes: number; drop(): Promise<void> };

/** Those of some commits that a repository of the node has. */
export const knownCommits = async (git: Git, gitDir: string, shas: readonly string[]): Promise<string[]> => {
  const asked = [...new Set(shas)].filter(isSha);
  if (asked.length === 0) return [];
  const input = asked.map((sha) => `${sha}\n`).join('');
  const answer = await git.text({ gitDir, args: ['cat-file', '--batch-check=%(objecttype) %(objectname)'], input });
  return answer.split('\n').flatMap((line) => (line.startsWith('commit ') ? [line.slice('commit '.length)] : []));
};

/** Writes what `sha` reaches and none of `without` does as one pack into a folder, under a name that nobody else has. */
export const writePack = async (
  git: Git,
  gitDir: string,
  { sha, without, folder, name }: { sha: string; without: readonly string[]; folder: string; name: string },
): Promise<Pack> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const input = [sha, ...without.map((known) => `^${known}`)].map((line) => `${line}\n`).join('');
  const args = ['pack-objects', '--revs', '--delta-base-offset', '--quiet', join(folder, name)];
  const hash = await git.text({ gitDir, readOnly: false, timeoutMs: GIT_FETCH_MS, args, input });
  const file = join(folder, `${name}-${hash}.pack`);
  return { file, bytes: (await stat(file)).size, drop: () => dropPacks(folder, `${name}-`) };
};

/** Takes files away that a folder of packs has, those with that beginning. */
export const dropPacks = async (folder: string, beginning = ''): Promise<void> => {
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith(beginning) && /\.(pack|idx|rev)$/.test(name)) await unlink(join(folder, name)).catch(ignoreGone);
};

const ignoreGone = (thrown: unknown): void => {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
};
