import { constants } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { lookAt, walkTree, type BytePath } from '../files/tree-walk.ts';
import { AGENT_OBJECTS, AGENT_OBJECTS_BYTES, GIT_WRITE_MS } from '../kernel/limits.ts';
import { makeGitDir } from './git-dir.ts';
import type { Git } from './run.ts';
import { rewriteWithout } from './without-paths.ts';

/** What to take from where. `quarantine` is a path that does not exist yet and is the caller's to remove. */
export type TakeObjects = {
  readonly git: Git;
  /** The agent's objects folder; its parents are known to be real folders. */
  readonly objects: string;
  readonly mirror: string;
  readonly quarantine: string;
  readonly tips: readonly string[];
  /** A commit the mirror has whole. */
  readonly base: string;
  /** Paths that no commit may bring along; commits that have them are made anew. */
  readonly without?: readonly BytePath[];
  /** Blobs that no commit may bring along, with those that stand in their place. */
  readonly replaced?: ReadonlyMap<string, string>;
};

/**
 * Which of these commits the mirror does not have whole. The object alone is not enough: an earlier try that was ended in
 * the middle may have left a commit without its files. What a ref of the mirror reaches is whole.
 */
export const missingCommits = async (git: Git, mirror: string, shas: readonly string[]): Promise<string[]> => {
  if (shas.length === 0) return [];
  const answer = await git.text({
    gitDir: mirror,
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    input: `${shas.join('\n')}\n`,
  });
  const lines = answer.split('\n');
  const present = shas.filter((_, index) => lines[index]?.endsWith(' commit') === true);
  const whole = new Set((await areWhole(git, mirror, present)) ? present : []);
  if (whole.size === 0) for (const sha of present) if (await areWhole(git, mirror, [sha])) whole.add(sha);
  return shas.filter((sha) => !whole.has(sha));
};

const areWhole = async (git: Git, mirror: string, shas: readonly string[]): Promise<boolean> => {
  if (shas.length === 0) return true;
  const { code } = await git.run({
    gitDir: mirror,
    timeoutMs: GIT_WRITE_MS,
    args: ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all'],
    input: `${shas.join('\n')}\n`,
    okCodes: [0, 1, 128],
  });
  return code === 0;
};

/**
 * Brings commits of an agent's Git directory into the mirror, by data alone: plain object files are copied (links, FIFOs,
 * index files and alternates are not) into a quarantine directory that the node made; from there they go as one pack into
 * the mirror, which computes every object's name anew, checks each (`--strict`) and then that nothing is missing. Rejects
 * with `git_failed` or `input_too_large`; the mirror's refs are untouched in any case. Answers commits that were made anew
 * without paths of `without`, by the commits they stand for; the mirror never sees what those held there.
 */
export const takeObjects = async (take: TakeObjects): Promise<ReadonlyMap<string, string>> => {
  const { git, mirror, quarantine, base } = take;
  const { packs, loose } = await copyObjects(take);
  for (const pack of packs)
    await git.run({
      gitDir: quarantine,
      readOnly: false,
      timeoutMs: GIT_WRITE_MS,
      args: ['index-pack', join(quarantine, 'objects/pack', pack)],
    });
  const anew = await rewriteWithout(git, quarantine, {
    tips: take.tips,
    base,
    mirror,
    paths: take.without ?? [],
    replaced: take.replaced ?? new Map(),
  });
  const tips = take.tips.map((tip) => anew.get(tip) ?? tip);
  // Few objects become loose ones, many stay one pack: a mirror must not gather a pack per task.
  const receive =
    packs.length === 0 && loose <= 2000 ? ['unpack-objects', '-q', '--strict'] : ['index-pack', '--stdin', '--strict'];
  await git.pipe(
    {
      gitDir: quarantine,
      timeoutMs: GIT_WRITE_MS,
      args: ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'],
      input: `${tips.join('\n')}\n^${base}\n`,
    },
    { gitDir: mirror, readOnly: false, timeoutMs: GIT_WRITE_MS, args: receive },
  );
  await git.run({
    gitDir: mirror,
    timeoutMs: GIT_WRITE_MS,
    args: ['rev-list', '--objects', '--quiet', '--stdin'],
    input: `${tips.join('\n')}\n^${base}\n`,
  });
  return anew;
};

/** Copies every plain object file within the limits. */
const copyObjects = async ({ objects, quarantine, mirror }: TakeObjects): Promise<{ packs: string[]; loose: number }> => {
  await makeGitDir({
    path: quarantine,
    kind: 'mirror',
    head: 'refs/heads/none',
    alternates: [join(mirror, 'objects')],
    shallow: null,
  });
  const entries = await walkTree(objects, { limit: AGENT_OBJECTS });
  const files = entries
    .filter(({ type, path }) => type === 'file' && /^([0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.pack)$/.test(path))
    .map(({ path }) => path);
  const bytes = files.reduce((sum, path) => sum + (lookAt(join(objects, path))?.size ?? 0), 0);
  if (bytes > AGENT_OBJECTS_BYTES) {
    throw new OrreryError('input_too_large', `The commits of the checkout are ${bytes} bytes large.`, {
      rule: `At most ${AGENT_OBJECTS_BYTES} bytes of objects are taken over.`,
    });
  }
  for (const folder of new Set(files.map((path) => path.slice(0, 2))))
    if (folder !== 'pa') await mkdir(join(quarantine, 'objects', folder));
  // Copied and never linked: a write into a shared file would change both.
  await Promise.all(
    files.map((path) => copyFile(join(objects, path), join(quarantine, 'objects', path), constants.COPYFILE_EXCL)),
  );
  return {
    packs: files.filter((path) => path.startsWith('pack/')).map((path) => path.slice(5)),
    loose: files.filter((path) => !path.startsWith('pack/')).length,
  };
};
