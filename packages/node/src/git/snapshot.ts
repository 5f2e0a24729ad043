import { chmodSync, unlinkSync } from 'node:fs';
import { copyFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { absoluteBytes, isErrno, lookAt, showBytes, walkTree, type BytePath, type TreeEntryType } from '../files/tree-walk.ts';
import { GIT_WRITE_MS, NESTED_REPOSITORIES, SNAPSHOT_BATCH, SNAPSHOT_BYTES, SNAPSHOT_FILES } from '../kernel/limits.ts';
import { checkGitFiles } from './hostile-files.ts';
import { asPointers, putPointers, readLfs } from './lfs/record.ts';
import { withinSize } from './snapshot-size.ts';
import { stderrOf, type Git, type GitCall } from './run.ts';

/** The node's own view of one checkout: its Git directory and index lie where no agent can write. */
export type CheckoutView = {
  readonly git: Git;
  readonly mirror: string;
  readonly tree: string;
  /** The node's Git directory for this checkout. */
  readonly nodeDir: string;
  /** Its index, true at the commit the checkout was made at. */
  readonly index: string;
  /** Where it is written down what was copied into the checkout. */
  readonly copied: string;
  /** The same of folders that hold what a set-up left. */
  readonly caches: string;
  /** Folder of the node's for submodules that were filled. */
  readonly modules: string;
  /** Where it is written down what was filled from Git LFS. */
  readonly lfs: string;
  /** The Git directory of the agent. Default: `.git` of the tree. */
  readonly agentDir?: string;
};

/** A tree object of everything that is in the checkout and not ignored. */
export type Snapshot = {
  /** Null: the files are those of `head`. */
  readonly tree: string | null;
  readonly notes: readonly string[];
  /** Whether files are left out because they are too much; the checkout alone has them. */
  readonly tooMuch: boolean;
};

/** Files that Git opens by name in a work tree, whatever they are: a FIFO of that name would make it wait for ever. */
const gitReads = new Set(['.gitignore', '.gitattributes', '.gitmodules']);

/** The call settings every command on a checkout has: the node's directory and index, objects written to the mirror. */
export const viewCall = ({ mirror, tree, nodeDir, index }: CheckoutView): Omit<GitCall, 'args'> => ({
  gitDir: nodeDir,
  workTree: tree,
  cwd: tree,
  indexFile: index,
  objectDirectory: join(mirror, 'objects'),
});

/**
 * Writes the tree of a checkout as it is now: tracked and untracked files with their exact modes, ignored ones left out,
 * compared with `head` (a commit the mirror has). Folders with a repository of their own are taken as plain files.
 * No process but Git with the node's own directory is started; nothing in the checkout changes except special files that
 * would block Git, which are unlinked and noted. A file of Git LFS that is as it was put there is its pointer. What is at or below a path of `without` is left out as if it were ignored.
 */
export const snapshotTree = async (
  view: CheckoutView,
  { base, head, without = [], modules = [] }: Snapping,
): Promise<Snapshot> => {
  const { git, tree } = view;
  const entries = await readEntries(tree, modules);
  const temporary = `${view.index}.snapshot`;
  await unlockIndex(temporary);
  await copyFile(view.index, temporary);
  const call = { ...viewCall({ ...view, index: temporary }), timeoutMs: GIT_WRITE_MS };
  // Against HEAD and not the base: files that are ignored but committed, and changed submodule links, are then tracked.
  if (head !== base) await git.run({ ...call, readOnly: false, args: ['read-tree', '-i', '-m', head] });
  const [changed, untracked] = await Promise.all([
    git.run({ ...call, args: ['diff-files', '-z', '--name-only', '--ignore-submodules=all'] }).then(splitPaths),
    listUntracked({ git, call, entries, left: NESTED_REPOSITORIES }, ''),
  ]);
  const { content, remove } = sortPaths(entries, [...changed, ...untracked].filter(outsideOf(without)));
  const { pointers, taken, left } = await sizeUp(view, content);
  for (const path of taken) makeReadable(tree, path);
  const { refused, notes } = await checkGitFiles(git, { ...call, workTree: tree, indexFile: temporary }, taken);
  const add = taken.filter((path) => !refused.has(path));
  await removePaths(git, call, remove);
  await putPointers(git, call, pointers);
  const unsavable = await addInBatches(git, call, add);
  const unchanged = add.length === 0 && remove.length === 0 && pointers.size === 0;
  const [found, before] = unchanged
    ? [null, null]
    : await Promise.all([
        git.text({ ...call, readOnly: false, args: ['write-tree'] }),
        git.text({ gitDir: view.mirror, args: ['rev-parse', '--verify', `${head}^{tree}`] }),
      ]);
  await unlink(temporary);
  return {
    tree: found === before ? null : found,
    notes: [...notes, ...describeRefused(refused), ...describeLeftOut(entries, { unsavable, left })],
    tooMuch: left.length > 0,
  };
};

/** Contents of Git LFS are pointers, whatever their size; of the others not everything may be taken. */
const sizeUp = async (view: CheckoutView, content: readonly BytePath[]) => {
  const pointers = await asPointers(view.tree, await readLfs(view), content);
  const others = content.filter((path) => !pointers.has(path));
  return { pointers, ...withinSize(view.tree, others) };
};

/** `modules`: folders of submodules that are looked at for themselves. */
type Snapping = {
  readonly base: string;
  readonly head: string;
  readonly without?: readonly BytePath[];
  readonly modules?: readonly BytePath[];
};

/** Takes away the lock that a command left when it was ended: nothing else works on the node's index of a checkout. */
export const unlockIndex = (index: string): Promise<void> =>
  unlink(`${index}.lock`).catch((thrown: unknown) => {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  });

const splitPaths = ({ stdout }: { stdout: Buffer }): BytePath[] =>
  stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '');
const joinPaths = (paths: readonly BytePath[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');

/** Everything in the checkout but its `.git`; special files that Git would open are unlinked on the way. */
const readEntries = async (tree: string, modules: readonly BytePath[]): Promise<Map<BytePath, TreeEntryType>> => {
  const skipped = new Set(['.git', ...modules]);
  const found = await walkTree(tree, { skip: (path) => skipped.has(path) });
  const entries = new Map<BytePath, TreeEntryType>();
  for (const { path, type } of found) {
    entries.set(path, type);
    if (type !== 'special') continue;
    const parts = path.split('/');
    if (gitReads.has(parts.at(-1) ?? '') || parts.includes('.git')) unlinkSync(absoluteBytes(tree, path));
  }
  return entries;
};

type Listing = {
  readonly git: Git;
  readonly call: Omit<GitCall, 'args'>;
  readonly entries: ReadonlyMap<BytePath, TreeEntryType>;
  /** Folders that may still be entered by their own rules: each costs a process. */
  left: number;
};

/**
 * Untracked files that are not ignored. A folder with its own repository is entered by its own ignore rules, one after the
 * other; of those beyond the bound everything is taken.
 */
const listUntracked = async (listing: Listing, folder: BytePath): Promise<BytePath[]> => {
  const { git, call, entries } = listing;
  const at = showBytes(`${Buffer.from(call.workTree ?? '').toString('latin1')}/${folder}`);
  // A name that is no text cannot be handed to Git as its work tree: everything in it is taken.
  if (at.includes('\ufffd') || listing.left < 0)
    return [...entries]
      .filter(([path, type]) => path.startsWith(folder) && type !== 'folder' && !path.split('/').includes('.git'))
      .map(([path]) => path);
  const within = folder === '' ? call : { ...call, workTree: at, cwd: at, indexFile: '/nonexistent/index' };
  const found = splitPaths(await git.run({ ...within, args: ['ls-files', '-z', '--others', '--exclude-standard'] }));
  const paths = found.filter((path) => !path.endsWith('/')).map((path) => folder + path);
  for (const path of found.filter((one) => one.endsWith('/'))) {
    listing.left -= 1;
    for (const inside of await listUntracked(listing, folder + path)) paths.push(inside);
  }
  return paths;
};

/** Whether a path is neither one of these nor below one. */
const outsideOf = (paths: readonly BytePath[]): ((path: BytePath) => boolean) => {
  if (paths.length === 0) return () => true;
  const left = new Set(paths);
  return (path) => {
    for (let at = path.length; at !== -1; at = path.lastIndexOf('/', at - 1)) if (left.has(path.slice(0, at))) return false;
    return true;
  };
};

const sortPaths = (entries: ReadonlyMap<BytePath, TreeEntryType>, paths: readonly BytePath[]) => {
  const isContent = (path: BytePath): boolean => ['file', 'link'].includes(entries.get(path) ?? '');
  const all = [...new Set(paths)];
  return { content: all.filter(isContent), remove: all.filter((path) => !isContent(path)) };
};

const removePaths = async (git: Git, call: Omit<GitCall, 'args'>, paths: readonly BytePath[]): Promise<void> => {
  const args = ['update-index', '-z', '--force-remove', '--stdin'];
  if (paths.length > 0) await git.run({ ...call, readOnly: false, args, input: joinPaths(paths) });
};

/** As `addPaths`; each command has its own time. */
const addInBatches = async (git: Git, call: Omit<GitCall, 'args'>, paths: readonly BytePath[]): Promise<BytePath[]> => {
  const unsavable: BytePath[][] = [];
  for (let at = 0; at < paths.length; at += SNAPSHOT_BATCH)
    unsavable.push(await addPaths(git, call, paths.slice(at, at + SNAPSHOT_BATCH)));
  return unsavable.flat();
};

/**
 * Adds paths to the index and answers those that Git does not store (names that some system takes for `.git`, files that
 * cannot be read): a batch that fails is halved until they are found, so that one such file does not cost the others.
 */
const addPaths = async (git: Git, call: Omit<GitCall, 'args'>, paths: readonly BytePath[]): Promise<BytePath[]> => {
  if (paths.length === 0) return [];
  try {
    const { stderr } = await git.run({
      ...call,
      readOnly: false,
      args: ['update-index', '-z', '--add', '--replace', '--stdin'],
      input: joinPaths(paths),
    });
    if (!stderr.includes('Ignoring path')) return [];
    const stored = new Set(splitPaths(await git.run({ ...call, args: ['ls-files', '-z'] })));
    return paths.filter((path) => !stored.has(path));
  } catch (thrown) {
    const stderr = stderrOf(thrown);
    if (!/Unable to process path|Invalid path/i.test(stderr) || /No space left|quota/i.test(stderr)) throw thrown;
    if (paths.length === 1) return [...paths];
    const half = paths.length >> 1;
    return [...(await addPaths(git, call, paths.slice(0, half))), ...(await addPaths(git, call, paths.slice(half)))];
  }
};

/** A file its owner made unreadable is still work: the node owns it and may open it up. */
const makeReadable = (tree: string, path: BytePath): void => {
  const at = absoluteBytes(tree, path);
  const found = lookAt(at);
  if (found?.isFile() === true && (found.mode & 0o400) === 0) chmodSync(at, (found.mode & 0o777) | 0o400);
};

const describeRefused = (refused: ReadonlyMap<BytePath, string>): string[] =>
  [...refused].map(([path, why]) => `${showBytes(path)}: left out, as Git would refuse it in a commit (${why})`);

const describeLeftOut = (
  entries: ReadonlyMap<BytePath, TreeEntryType>,
  { unsavable, left }: { readonly unsavable: readonly BytePath[]; readonly left: readonly BytePath[] },
): string[] => {
  const special = [...entries].filter(([, type]) => type === 'special').map(([path]) => path);
  const nested = [...entries].filter(([path]) => path.endsWith('/.git')).map(([path]) => path.slice(0, -5));
  const mounts = [...entries].filter(([, type]) => type === 'mount').map(([path]) => path);
  const deep = [...entries].filter(([, type]) => type === 'deep').map(([path]) => `${path.slice(0, 80)}…`);
  const line = (paths: readonly BytePath[], text: string): string[] =>
    paths.length === 0
      ? []
      : [`${paths.slice(0, 5).map(showBytes).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}: ${text}`];
  return [
    ...line(special, 'neither file, folder nor link, left out'),
    ...line(
      left,
      `left out, as the files that were not committed are more than ${SNAPSHOT_BYTES / 1024 ** 3} GiB or ${SNAPSHOT_FILES} together; they stay in the checkout, which is kept aside when it is given back (retention.asideDays)`,
    ),
    ...line(unsavable, 'a name that Git does not store, left out'),
    ...line(nested, 'a repository inside the checkout, its files taken, its history not'),
    ...line(mounts, 'another file system, left out'),
    ...line(deep, 'folders in folders beyond the longest path, left out'),
  ];
};
