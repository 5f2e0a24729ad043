// The files of a change. Each goes by itself and in one step: what was there is renamed into the stage, then what is to be
// there gets its name, which fails when somebody else has put something there meanwhile. So at every moment each path has
// its old file, its new file, or (for an instant) none, and every file that was there is still somewhere.
import { createHash } from 'node:crypto';
import { chmodSync, createReadStream, linkSync, mkdirSync, readFileSync, readlinkSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { removeEmptyFolder } from '../../files/remove.ts';
import { absoluteBytes, isErrno, lookAt, showBytes, walkTree, type BytePath } from '../../files/tree-walk.ts';
import { writeDurably } from '../../kernel/durable-file.ts';
import { stagedCall, stagePaths, type Change, type ChangeTools } from './model.ts';

/** What tells a file from every other: none of it changes when the file gets another name. */
type FileMark = { readonly inode: number; readonly size: number; readonly mtimeMs: number; readonly mode: number };

/** One path. `next` null: it is deleted; `before` null: nothing is there. */
type Move = {
  readonly path: BytePath;
  readonly before: FileMark | null;
  readonly next: { readonly inode: number; readonly hash: string } | null;
};

/** All that a change does to the files, in the order in which it does it. */
export type Moves = {
  readonly moves: readonly Move[];
  /** Folders that are made, and those that may be empty afterwards with their modes, outermost first. */
  readonly made: readonly BytePath[];
  readonly emptied: readonly { readonly path: BytePath; readonly mode: number }[];
  /** Folders of submodules that come or go; their contents are nobody's here. */
  readonly modules: { readonly made: readonly BytePath[]; readonly gone: readonly BytePath[] };
};

const markOf = (at: Buffer): FileMark | null => {
  const found = lookAt(at);
  return found === null || found.isDirectory()
    ? null
    : { inode: found.ino, size: found.size, mtimeMs: found.mtimeMs, mode: found.mode };
};

const same = (one: FileMark | null, other: FileMark | null): boolean =>
  one === other ||
  (one !== null &&
    other !== null &&
    one.inode === other.inode &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.mode === other.mode);

/** Folders above a path, outermost first. */
const above = (path: BytePath): BytePath[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/**
 * What brings the files of the repository from `old` to `target`: the staged files, and what is no longer in the target.
 * To be asked before it is looked whether the tree is clean: a file that is another one when its turn comes is not touched.
 */
export const planMoves = async ({ git }: Pick<ChangeTools, 'git'>, change: Change): Promise<Moves> => {
  const root = change.repository;
  const { files } = stagePaths(change);
  const staged = (await walkTree(files)).filter(({ type }) => type === 'file' || type === 'link').map(({ path }) => path);
  const { gone, modules } = await leaving(git, change);
  const deleted: Move[] = gone.flatMap((path) => {
    const before = markOf(absoluteBytes(root, path));
    return before === null ? [] : [{ path, before, next: null }];
  });
  const placed: Move[] = [];
  for (const path of staged) {
    const from = absoluteBytes(files, path);
    const next = { inode: lookAt(from)?.ino ?? 0, hash: await hashOf(from) };
    placed.push({ path, before: markOf(absoluteBytes(root, path)), next });
  }
  const made = [...new Set(placed.flatMap(({ path }) => above(path)))].filter(
    (path) => lookAt(absoluteBytes(root, path))?.isDirectory() !== true,
  );
  const emptied = [...new Set(deleted.flatMap(({ path }) => above(path)))].flatMap((path) => {
    const found = lookAt(absoluteBytes(root, path));
    return found?.isDirectory() === true ? [{ path, mode: found.mode & 0o7777 }] : [];
  });
  return {
    moves: [...deleted, ...placed],
    made: made.sort(),
    emptied: emptied.sort((a, b) => (a.path < b.path ? -1 : 1)),
    modules,
  };
};

/** Paths of `old` that `target` does not have as files, and submodules that come or go. */
const leaving = async (git: ChangeTools['git'], change: Change) => {
  const { stdout } = await git.run({
    ...stagedCall(change),
    args: ['diff-tree', '-r', '-z', '--no-renames', change.old ?? '', change.target ?? ''],
  });
  const parts = stdout.toString('latin1').split('\0');
  const gone: BytePath[] = [];
  const modules = { made: [] as BytePath[], gone: [] as BytePath[] };
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [from = '', to = ''] = (parts[at] ?? '').slice(1).split(' ');
    const path = parts[at + 1] ?? '';
    if (from === '160000' && to !== '160000') modules.gone.push(path);
    else if (from !== '000000' && (to === '000000' || to === '160000')) gone.push(path);
    if (to === '160000' && from !== '160000') modules.made.push(path);
  }
  return { gone, modules };
};

/** Makes the moves, which were stored. A file that is not what was planned ends it with `dirty_tree`. */
export const makeMoves = async ({ step }: Pick<ChangeTools, 'step'>, change: Change, plan: Moves): Promise<void> => {
  const root = change.repository;
  const { files, aside } = stagePaths(change);
  for (const [index, { path, before, next }] of plan.moves.entries()) {
    if (next !== null) continue;
    await step();
    takeAside(absoluteBytes(root, path), Buffer.from(join(aside, String(index))), { path, before });
  }
  for (const path of plan.modules.gone) removeEmptyFolder(absoluteBytes(root, path));
  for (const { path } of plan.emptied.toReversed()) removeEmptyFolder(absoluteBytes(root, path));
  for (const [index, { path, before, next }] of plan.moves.entries()) {
    if (next === null) continue;
    await step();
    const at = absoluteBytes(root, path);
    if (before === null) makeFolders(root, path);
    else takeAside(at, Buffer.from(join(aside, String(index))), { path, before });
    await step();
    place(absoluteBytes(files, path), at, path);
  }
  for (const path of plan.modules.made) mkdirSync(absoluteBytes(root, path), { recursive: true });
};

const makeFolders = (root: string, path: BytePath): void => {
  for (const folder of above(path)) {
    const found = lookAt(absoluteBytes(root, folder));
    if (found === null) mkdirSync(absoluteBytes(root, folder));
    // A link would lead out of the repository.
    else if (!found.isDirectory()) throw changedMeanwhile(folder);
  }
};

const takeAside = (at: Buffer, to: Buffer, { path, before }: Pick<Move, 'path' | 'before'>): void => {
  if (!same(markOf(at), before)) throw changedMeanwhile(path);
  renameSync(at, to);
  if (!same(markOf(to), before)) throw changedMeanwhile(path);
};

const changedMeanwhile = (path: BytePath): OrreryError =>
  new OrreryError('dirty_tree', `${showBytes(path)} was changed while the result was applied.`, {
    rule: 'A file that is not committed is never overwritten.',
    fix: 'Commit it, then run the command again.',
  });

/** Gives a file its name, never over another. */
const place = (from: Buffer, to: Buffer, path: BytePath): void => {
  try {
    linkSync(from, to);
  } catch (thrown) {
    if (isErrno(thrown, 'EEXIST')) throw changedMeanwhile(path);
    if (!isErrno(thrown, 'EPERM', 'ENOTSUP', 'EMLINK')) throw thrown;
    if (lookAt(to) !== null) throw changedMeanwhile(path);
    renameSync(from, to);
  }
};

/** Makes the moves durable, so that they can be taken back. */
export const storeMoves = (change: Change, plan: Moves): Promise<void> =>
  writeDurably(stagePaths(change).moves, JSON.stringify(plan));

const readMoves = (change: Change): Moves | null => {
  const { moves } = stagePaths(change);
  // Written by this node below an unguessable name, and durable before the journal said that anything moves.
  return lookAt(moves) === null ? null : (JSON.parse(readFileSync(moves, 'utf8')) as Moves);
};

/**
 * Takes the moves back, from wherever they were ended: a file of the change goes when it is still exactly what was staged,
 * a file that was set aside comes back when nothing has taken its place. Answers the paths that somebody else changed
 * meanwhile; they are left as they are.
 */
export const undoMoves = async ({ step }: Pick<ChangeTools, 'step'>, change: Change): Promise<string[]> => {
  const plan = readMoves(change);
  if (plan === null) return [];
  const root = change.repository;
  const left: string[] = [];
  for (const { path, next } of plan.moves) {
    const at = absoluteBytes(root, path);
    if (next === null || lookAt(at)?.ino !== next.inode) continue;
    await step();
    if ((await hashOf(at)) === next.hash) unlinkSync(at);
    else left.push(showBytes(path));
  }
  for (const path of [...plan.modules.made, ...plan.made.toReversed()]) removeEmptyFolder(absoluteBytes(root, path));
  for (const { path, mode } of [
    ...plan.emptied,
    ...plan.modules.gone.map((one) => ({ path: one, mode: 0o777 & ~process.umask() })),
  ]) {
    const at = absoluteBytes(root, path);
    if (lookAt(at) !== null) continue;
    mkdirSync(at);
    chmodSync(at, mode);
  }
  for (const [index, { path }] of plan.moves.entries()) {
    const aside = Buffer.from(join(stagePaths(change).aside, String(index)));
    const at = absoluteBytes(root, path);
    if (lookAt(aside) === null || lookAt(at)?.ino === lookAt(aside)?.ino) continue;
    await step();
    if (lookAt(at) === null) place(aside, at, path);
    else left.push(showBytes(path));
  }
  return [...new Set(left)];
};

const hashOf = async (at: Buffer): Promise<string> => {
  const hash = createHash('sha256');
  if (lookAt(at)?.isSymbolicLink() === true) return hash.update(readlinkSync(at, 'buffer')).digest('hex');
  await pipeline(createReadStream(at), hash);
  return hash.digest('hex');
};
