import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCK_FILE_BYTES } from '../../kernel/limits.ts';

/** Files at the root of a checkout that name what a set-up installs. */
export const lockFiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'Pipfile.lock',
  'requirements.txt',
  'Gemfile.lock',
  'go.sum',
  'composer.lock',
  'mix.lock',
  'flake.lock',
] as const;

/**
 * The content key of a set-up: its scripts, the lock files that lie in the checkout now, image, backend and the folders of `cache`. The same key
 * means that there is nothing to do again. Lock files are read as data: links are not followed, a huge one counts as changed.
 */
export const setupKey = async (given: {
  readonly scripts: readonly Uint8Array[];
  readonly tree: string;
  readonly image: string | null;
  readonly backend: string;
  readonly cache: readonly string[];
}): Promise<string> => {
  const hash = createHash('sha256');
  const add = (name: string, content: Uint8Array): void => {
    hash.update(`${name}\0${content.length}\0`);
    hash.update(content);
  };
  for (const [index, script] of given.scripts.entries()) add(`script ${index}`, script);
  for (const name of lockFiles) {
    const content = await readPlain(join(given.tree, name));
    if (content !== null) add(name, content);
  }
  add('image', Buffer.from(given.image ?? ''));
  for (const path of given.cache) add('cache', Buffer.from(path));
  add('backend', Buffer.from(given.backend));
  return hash.digest('hex');
};

/** The content of a plain file; null for everything else. */
const readPlain = async (path: string): Promise<Uint8Array | null> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile()) return null;
    if (found.size > LOCK_FILE_BYTES) return Buffer.from(`${found.size} ${found.mtimeMs}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
};
