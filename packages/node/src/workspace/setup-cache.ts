// Glossary. A set-up's state is what is in the folders that a project declares (`cache`) when its scripts have passed in a
// checkout that nothing else ran in. Its key says what it follows from; the same key in the same project means the same state.
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { copyTree } from '../files/copy-tree.ts';
import { diskUse } from '../files/disk-use.ts';
import { own } from '../files/own.ts';
import { isErrno, lookAt } from '../files/tree-walk.ts';
import { isAncestor } from '../git/publish.ts';
import { viewCall } from '../git/snapshot.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { SETUP_CACHE_BYTES, SETUP_CACHE_DAYS, SETUP_CACHES, SETUP_CACHES_BYTES } from '../kernel/limits.ts';
import { hasPlainParents, readCopied } from './copied.ts';
import { directoryId, directoryPath, makeDirectory, removeDirectory } from './directories.ts';
import { mirrorPath, slotPaths, type WorkspaceContext } from './model.ts';
import { claimedRow, type ClaimedRow } from './claimed.ts';
import { listDirectories, updateDirectory, type DirectoryRow } from './store.ts';

/** What a set-up's state follows from, and where it lies: folders below the root of a checkout. */
export type SetupState = { readonly key: string; readonly paths: readonly string[] };

/** What is written down with a state. `copied`: of ignored files that were copied in, which scripts can read, too. */
const entrySchema = z.object({
  key: z.string(),
  copied: z.string(),
  bytes: z.number(),
  folders: z.array(z.object({ path: z.string(), at: z.string() })),
});
type Entry = z.output<typeof entrySchema>;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Puts the state of an earlier set-up with the same key into a checkout in which nothing ran yet, and says when that was
 * made; null when there is none. Only one that was made at a commit of the checkout's own history is taken: what a commit
 * elsewhere put into it reaches nobody who has not that commit. Repeatable.
 */
export const takeSetup = (context: WorkspaceContext, id: string, state: SetupState): Promise<{ madeAtMs: number } | null> =>
  context.mutex.run('setups', async () => {
    const row = await claimedRow(context, id);
    await noteCaches(row, state.paths);
    const found = await findState(context, row, state.key);
    if (found === null) return null;
    const { tree } = slotPaths(row.path);
    const { folders } = found.entry;
    const paths = folders.map(({ path }) => path);
    if (!paths.every((path) => hasPlainParents(tree, path)) || (await isTracked(context, row, paths))) return null;
    for (const { path, at } of folders) {
      await mkdir(join(tree, path), { recursive: true });
      await copyTree(join(found.row.path, at), join(tree, path));
    }
    await context.store.transaction((tx) => updateDirectory(tx.db, found.row.id, { used_at: context.clock.nowMs() }));
    return { madeAtMs: found.row.created_at };
  });

/**
 * Keeps the state that a set-up just left in a checkout, for others with the same key; what is kept longest unused goes when
 * there are too many. Answers why it was not kept, or null. Only to be called while nothing runs there, and nothing but the
 * set-up has.
 */
export const keepSetup = (context: WorkspaceContext, id: string, state: SetupState): Promise<string | null> =>
  context.mutex.run('setups', async () => {
    const row = await claimedRow(context, id);
    if ((await findState(context, row, state.key)) !== null) return null;
    const { tree } = slotPaths(row.path);
    const there = state.paths.filter((path) => hasPlainParents(tree, path) && lookAt(join(tree, path))?.isDirectory() === true);
    if (there.length === 0) return 'none of the folders of cache is there';
    if (await isTracked(context, row, there)) return 'a folder of cache holds files that are committed';
    let bytes = 0;
    for (const path of there) bytes += await diskUse(join(tree, path));
    if (bytes > SETUP_CACHE_BYTES) return `it takes ${bytes} bytes, and at most ${SETUP_CACHE_BYTES} are kept`;
    const copied = await copiedKey(row);
    await writeState(context, row, { tree, there, entry: { key: state.key, copied, bytes } });
    await evict(context, row.project_id);
    return null;
  });

/** Forgets what set-ups with a key left in a project. */
export const forgetSetup = (context: WorkspaceContext, projectId: string, key: string): Promise<void> =>
  context.mutex.run('setups', async () => {
    for (const { row, entry } of await statesOf(context, projectId)) if (entry.key === key) await removeDirectory(context, row);
  });

/** Takes away states that nobody used for their days. Answers how many. */
export const reclaimSetups = (context: WorkspaceContext): Promise<number> =>
  context.mutex.run('setups', async () => {
    const nowMs = context.clock.nowMs();
    const due = (await listDirectories(context.store.read, { kind: 'setup', state: 'kept' })).filter(
      ({ used_at }) => nowMs - used_at >= SETUP_CACHE_DAYS * dayMs,
    );
    for (const row of due) await removeDirectory(context, row);
    return due.length;
  });

/** Takes away what set-ups left in a checkout that was given back: it can be had again, and is not kept aside. */
export const dropCaches = async (
  context: WorkspaceContext,
  view: { readonly tree: string; readonly caches: string },
): Promise<void> => {
  const text = await readFile(view.caches, 'utf8').catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return '[]';
    throw thrown;
  });
  for (const path of z.array(z.string()).parse(JSON.parse(text))) {
    if (!hasPlainParents(view.tree, path) || lookAt(join(view.tree, path))?.isDirectory() !== true) continue;
    await context.remover.remove(own(join(view.tree, path)));
  }
};

const noteCaches = ({ path }: ClaimedRow, paths: readonly string[]): Promise<void> =>
  writeDurably(slotPaths(path).caches, JSON.stringify(paths));

/** What was copied into a checkout, in one word. */
const copiedKey = async ({ path }: ClaimedRow): Promise<string> => {
  const record = await readCopied(slotPaths(path));
  const sorted = Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
};

type State = { readonly row: DirectoryRow; readonly entry: Entry };

const entryFile = (row: Pick<DirectoryRow, 'path'>): string => join(row.path, 'entry.json');

const readEntry = async (row: DirectoryRow): Promise<Entry | null> => {
  const text = await readFile(entryFile(row), 'utf8').catch(() => null);
  try {
    return text === null ? null : entrySchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
};

/** States of a project, the newest first. One that cannot be read is none. */
const statesOf = async (context: WorkspaceContext, projectId: string): Promise<State[]> => {
  const rows = await listDirectories(context.store.read, { kind: 'setup', state: 'kept', projectId });
  const states: State[] = [];
  for (const row of rows.toReversed()) {
    const entry = await readEntry(row);
    if (entry !== null) states.push({ row, entry });
  }
  return states;
};

const findState = async (context: WorkspaceContext, row: ClaimedRow, key: string): Promise<State | null> => {
  const copied = await copiedKey(row);
  const gitDir = mirrorPath(context.dataDirectory, row.project_id);
  for (const state of await statesOf(context, row.project_id)) {
    if (state.entry.key !== key || state.entry.copied !== copied) continue;
    const older = state.row.base_sha ?? '';
    if (older === row.base_sha || (await isAncestor(context.git, { gitDir }, { older, newer: row.base_sha }))) return state;
  }
  return null;
};

/** Whether the checkout's commit has files at or below one of these folders. */
const isTracked = async (context: WorkspaceContext, row: ClaimedRow, paths: readonly string[]): Promise<boolean> => {
  const view = { git: context.git, mirror: mirrorPath(context.dataDirectory, row.project_id), ...slotPaths(row.path) };
  return (await context.git.text({ ...viewCall(view), args: ['ls-files', '-z', '--', ...paths] })) !== '';
};

/** A crash before its last line leaves a directory that the next start takes away. */
const writeState = async (
  context: WorkspaceContext,
  { project_id, base_sha }: ClaimedRow,
  { tree, there, entry }: { tree: string; there: readonly string[]; entry: Omit<Entry, 'folders'> },
): Promise<void> => {
  const id = directoryId(context, 'setup');
  const path = directoryPath(context, 'setups', id);
  const made = await makeDirectory(context, { kind: 'setup', id, path, projectId: project_id, taskId: null });
  const folders = there.map((folder, index) => ({ path: folder, at: String(index) }));
  for (const folder of folders) {
    await mkdir(join(path, folder.at), { mode: 0o700 });
    await copyTree(join(tree, folder.path), join(path, folder.at));
  }
  await writeDurably(entryFile(made), JSON.stringify({ ...entry, folders } satisfies Entry));
  await context.store.transaction((tx) => updateDirectory(tx.db, id, { state: 'kept', base_sha }));
};

/** The longest unused go: of the project beyond their number, of the node beyond their bytes. */
const evict = async (context: WorkspaceContext, projectId: string): Promise<void> => {
  const byUse = (rows: readonly State[]): State[] => rows.toSorted((a, b) => b.row.used_at - a.row.used_at);
  for (const { row } of byUse(await statesOf(context, projectId)).slice(SETUP_CACHES)) await removeDirectory(context, row);
  const projects = new Set(
    (await listDirectories(context.store.read, { kind: 'setup' })).map(({ project_id }) => project_id ?? ''),
  );
  let left = SETUP_CACHES_BYTES;
  for (const { row, entry } of byUse((await Promise.all([...projects].map((one) => statesOf(context, one)))).flat())) {
    left -= entry.bytes;
    if (left < 0) await removeDirectory(context, row);
  }
};
