// Git objects that a checkout borrows, for a place that does not see where they lie: the history of its base as one pack.
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Git } from '../../git/run.ts';
import { GIT_WRITE_MS } from '../../kernel/limits.ts';
import { KEPT_PACKS } from './limits.ts';

/** A pack with its index, on this machine. */
export type ObjectPack = { readonly pack: string; readonly index: string };

/** Makes the pack of everything that some commits reach, and keeps the newest ones. */
export const createObjectPacks = ({ git, directory }: { readonly git: Git; readonly directory: string }) => {
  const making = new Map<string, Promise<ObjectPack>>();
  const filesOf = (sha: string): ObjectPack => ({
    pack: join(directory, `pack-${sha}.pack`),
    index: join(directory, `pack-${sha}.idx`),
  });
  const make = async (objects: string, shas: readonly string[]): Promise<ObjectPack> => {
    const sha = nameOf(shas);
    const wanted = filesOf(sha);
    if (await isThere(wanted.index)) return wanted;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const name = await git.text({
      gitDir: dirname(objects),
      readOnly: true,
      timeoutMs: GIT_WRITE_MS,
      args: ['pack-objects', '--revs', '-q', '--delta-base-offset', join(directory, `making-${sha}`)],
      input: `${shas.join('\n')}\n`,
    });
    // The index goes last: a pack without one is no pack.
    await rename(join(directory, `making-${sha}-${name}.pack`), wanted.pack);
    await rename(join(directory, `making-${sha}-${name}.idx`), wanted.index);
    await forgetOld(directory);
    return wanted;
  };
  return {
    /** The pack of what the commits reach in the repository whose objects folder is `objects`. Made once, also when asked at once. */
    of: (objects: string, shas: readonly string[]): Promise<ObjectPack> => {
      const key = `${objects}\0${nameOf(shas)}`;
      const there = making.get(key);
      if (there !== undefined) return there;
      const made = make(objects, shas).finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },
  };
};

/** One commit names its pack itself. */
const nameOf = (shas: readonly string[]): string =>
  shas.length === 1 ? (shas[0] ?? '') : createHash('sha1').update(shas.join()).digest('hex');

/** See `createObjectPacks`. */
export type ObjectPacks = ReturnType<typeof createObjectPacks>;

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Takes away all but the newest packs, and what a crash left half made. Indexes first. */
const forgetOld = async (directory: string): Promise<void> => {
  const names = await readdir(directory);
  const indexes = names.filter((name) => /^pack-.*\.idx$/.test(name));
  const ages = await Promise.all(indexes.map(async (name) => ({ name, at: (await stat(join(directory, name))).mtimeMs })));
  const old = ages.toSorted((a, b) => b.at - a.at).slice(KEPT_PACKS);
  for (const { name } of old) {
    await unlink(join(directory, name));
    await unlink(join(directory, name.replace(/idx$/, 'pack')));
  }
};
