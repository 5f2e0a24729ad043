import { chmodSync, mkdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { copyFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { own } from '../files/own.ts';
import { absoluteBytes, lookAt, walkTree, type BytePath, type TreeEntry } from '../files/tree-walk.ts';
import { unlockIndex, viewCall, type CheckoutView } from '../git/snapshot.ts';
import { ASIDE_DAYS, GIT_WRITE_MS } from '../kernel/limits.ts';
import { dropCopies } from './copied.ts';
import { directoryId, directoryPath, makeDirectory, removeDirectory } from './directories.ts';
import type { WorkspaceContext } from './model.ts';
import { dropLfs } from './lfs-changes.ts';
import { dropModules } from './submodules.ts';
import { dropCaches } from './setup-cache.ts';
import { findDirectory, updateDirectory, type DirectoryRow } from './store.ts';

/** What a commit has in its tree. */
type Tracked = {
  readonly files: ReadonlyMap<BytePath, 'file' | 'program' | 'link'>;
  readonly folders: ReadonlySet<BytePath>;
  readonly submodules: ReadonlySet<BytePath>;
};

/**
 * Brings a released slot back to its base and proves it: the agent's `.git` is gone, every file was read and compared,
 * nothing is there that the base does not have, no file is shared by a hard link, owners and modes are the node's. What
 * Git does not store is moved aside first. `savedTree` is a tree whose files are saved: they need not be kept again.
 * Rejects when the proof fails; the slot must then not be used again. Rejects soon after the node is stopping, too: begun
 * anew, it goes on with what is left.
 */
export const scrubSlot = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { row, savedTree }: { row: DirectoryRow; savedTree: string },
): Promise<void> => {
  const base = row.base_sha ?? '';
  await dropModules(context, view);
  await removeAgentDir(context, view.tree);
  await clearSpecial(context, view.tree);
  await dropCopies(view);
  await dropLfs(view);
  await dropCaches(context, view);
  await restoreTracked(view, { base, savedTree });
  const tracked = await readTracked(view);
  await moveAside(context, view.tree, { row, tracked });
  context.stopping.throwIfAborted();
  await repairFiles(view, tracked);
  await prove(context, view, tracked);
};

const removeAgentDir = async (context: WorkspaceContext, tree: string): Promise<void> => {
  const path = join(tree, '.git');
  const found = lookAt(path);
  if (found === null) return;
  if (found.isDirectory()) await context.remover.remove(own(path));
  else await unlink(path);
};

/** FIFOs, sockets and devices hold no work, and Git would wait for some of them. */
const clearSpecial = async (context: WorkspaceContext, tree: string): Promise<void> => {
  for (const { path, type } of await walkTree(tree, { signal: context.stopping }))
    if (type === 'special') unlinkSync(absoluteBytes(tree, path));
};

/** From what is saved to the base: Git compares the contents of every file (the index knows no times), then writes what differs. */
const restoreTracked = async (view: CheckoutView, { base, savedTree }: { base: string; savedTree: string }): Promise<void> => {
  const temporary = `${view.index}.scrub`;
  await Promise.all([unlockIndex(temporary), unlockIndex(view.index)]);
  const call = { ...viewCall({ ...view, index: temporary }), readOnly: false, timeoutMs: GIT_WRITE_MS };
  await view.git.run({ ...call, args: ['read-tree', savedTree] });
  await view.git.run({ ...call, args: ['update-index', '-q', '--really-refresh', '--ignore-submodules'], okCodes: [0, 1] });
  await view.git.run({ ...call, args: ['read-tree', '--reset', '-u', base] });
  await copyFile(temporary, view.index);
  await unlink(temporary);
};

const readTracked = async (view: CheckoutView): Promise<Tracked> => {
  const { stdout } = await view.git.run({ ...viewCall(view), args: ['ls-files', '--stage', '-z'] });
  const files = new Map<BytePath, 'file' | 'program' | 'link'>();
  const folders = new Set<BytePath>();
  const submodules = new Set<BytePath>();
  for (const line of stdout.toString('latin1').split('\0')) {
    if (line === '') continue;
    const path = line.slice(line.indexOf('\t') + 1);
    for (let at = path.lastIndexOf('/'); at !== -1 && !folders.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at));
    const mode = line.slice(0, 6);
    if (mode === '160000') submodules.add(path);
    else files.set(path, mode === '120000' ? 'link' : mode === '100755' ? 'program' : 'file');
  }
  return { files, folders, submodules };
};

const isTracked = ({ files, folders, submodules }: Tracked, { path, type }: TreeEntry): boolean =>
  type === 'folder'
    ? folders.has(path) || submodules.has(path)
    : type === 'file'
      ? files.has(path) && files.get(path) !== 'link'
      : type === 'link' && files.get(path) === 'link';

/** The paths and every folder above them. */
const withFoldersAbove = (paths: readonly BytePath[]): ReadonlySet<BytePath> => {
  const all = new Set(paths);
  for (const path of paths)
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (all.has(folder)) break;
      all.add(folder);
    }
  return all;
};

/** Moves whatever the base does not have out of the tree, whole folders at once. Empty folders are just taken away. */
const moveAside = async (
  context: WorkspaceContext,
  tree: string,
  { row, tracked }: { row: DirectoryRow; tracked: Tracked },
): Promise<void> => {
  const extra = (await walkTree(tree, { signal: context.stopping })).filter((entry) => !isTracked(tracked, entry));
  const names = new Set(extra.map(({ path }) => path));
  const tops = extra.filter(
    ({ path }) =>
      !path
        .split('/')
        .slice(1)
        .some((_, depth) =>
          names.has(
            path
              .split('/')
              .slice(0, depth + 1)
              .join('/'),
          ),
        ),
  );
  const holding = withFoldersAbove(extra.filter(({ type }) => type !== 'folder').map(({ path }) => path));
  const kept = tops.filter(({ path }) => holding.has(path));
  for (const { path } of extra.filter(({ path: one, type }) => type === 'folder' && !holding.has(one)).reverse())
    rmdirSync(absoluteBytes(tree, path));
  if (kept.length === 0) return;
  const id = directoryId(context, 'aside');
  const aside = await makeDirectory(context, {
    kind: 'aside',
    id,
    path: directoryPath(context, 'aside', id),
    projectId: row.project_id,
    taskId: row.task_id,
  });
  let moved = 0;
  for (const { path } of kept) {
    if (context.stopping.aborted) break;
    moved++;
    const target = absoluteBytes(aside.path, path);
    mkdirSync(Buffer.from(dirname(target.toString('latin1')), 'latin1'), { recursive: true });
    await rename(absoluteBytes(tree, path), target);
  }
  await context.store.transaction((tx) => updateDirectory(tx.db, aside.id, { state: 'kept' }));
  context.log.info('workspace.aside', { taskId: row.task_id, entries: moved, keptDays: ASIDE_DAYS });
};

const expectedModes = (): { file: number; program: number; folder: number } => {
  const umask = process.umask();
  return { file: 0o666 & ~umask, program: 0o777 & ~umask, folder: 0o777 & ~umask };
};

/** Rewrites files that are shared by a hard link or have another owner or mode than a fresh checkout gives them. */
const repairFiles = async (view: CheckoutView, { files, folders }: Tracked): Promise<void> => {
  const modes = expectedModes();
  const me = process.getuid?.() ?? null;
  for (const path of folders) {
    const at = absoluteBytes(view.tree, path);
    const found = lookAt(at);
    if (found !== null && (found.mode & 0o7777) !== modes.folder) chmodSync(at, modes.folder);
  }
  const wrong = [...files].filter(([path, kind]) => {
    const found = lookAt(absoluteBytes(view.tree, path));
    if (found === null || kind === 'link') return found === null;
    return found.nlink !== 1 || (found.mode & 0o7777) !== modes[kind] || (me !== null && found.uid !== me);
  });
  if (wrong.length === 0) return;
  for (const [path] of wrong) if (lookAt(absoluteBytes(view.tree, path)) !== null) unlinkSync(absoluteBytes(view.tree, path));
  const input = Buffer.from(wrong.map(([path]) => `${path}\0`).join(''), 'latin1');
  await view.git.run({
    ...viewCall(view),
    readOnly: false,
    timeoutMs: GIT_WRITE_MS,
    args: ['checkout-index', '-f', '-u', '-z', '--stdin'],
    input,
  });
};

const prove = async (context: WorkspaceContext, view: CheckoutView, tracked: Tracked): Promise<void> => {
  const entries = await walkTree(view.tree, { signal: context.stopping });
  const extra = entries.find((entry) => !isTracked(tracked, entry));
  const files = entries.filter(({ type }) => type !== 'folder').length;
  const { code } = await view.git.run({
    ...viewCall(view),
    args: ['diff-files', '--quiet', '--ignore-submodules=all'],
    okCodes: [0, 1],
  });
  const modes = expectedModes();
  const shared = [...tracked.files].some(
    ([path, kind]) => kind !== 'link' && lookAt(absoluteBytes(view.tree, path))?.nlink !== 1,
  );
  const loose = [...tracked.folders].some(
    (path) => (lookAt(absoluteBytes(view.tree, path))?.mode ?? 0) % 0o10000 !== modes.folder,
  );
  if (extra === undefined && files === tracked.files.size && code === 0 && !shared && !loose) return;
  throw new OrreryError('internal', 'A released checkout could not be proven clean.', {
    rule: 'A slot is used again only when its tree equals its base.',
  });
};

/** Removes a slot that cannot be used again. */
export const dropSlot = async (context: WorkspaceContext, id: string): Promise<void> => {
  const row = await findDirectory(context.store.read, id);
  if (row !== undefined) await removeDirectory(context, row);
};
