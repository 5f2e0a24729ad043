import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { makeOwned } from '../files/own.ts';
import type { OwnedDirectory } from '../files/remove.ts';
import { lookAt } from '../files/tree-walk.ts';
import { randomHex } from '../kernel/random.ts';
import type { DirectoryKind, WorkspaceContext } from './model.ts';
import { deleteDirectory, insertDirectory, ownedOf, updateDirectory, type DirectoryRow } from './store.ts';

/** What a new directory is for. */
export type NewDirectory = {
  readonly kind: DirectoryKind;
  readonly path: string;
  readonly id?: string;
  readonly projectId: string | null;
  readonly taskId: string | null;
};

/** A fresh id of a directory: unguessable, so that nobody can put something in its place beforehand. */
export const directoryId = (context: WorkspaceContext, kind: DirectoryKind): string => `${kind}_${randomHex(context.random, 10)}`;

/** Where directories of a kind lie. */
export const directoryPath = (context: WorkspaceContext, group: string, id: string): string =>
  join(context.dataDirectory, 'workspaces', group, id);

/**
 * Makes a directory of the node: recorded as `making` before it exists, with its identity after, so that a crash at any
 * moment leaves something the next start can settle.
 */
export const makeDirectory = async (
  context: WorkspaceContext,
  { kind, path, projectId, taskId, id = directoryId(context, kind) }: NewDirectory,
): Promise<OwnedDirectory & { readonly id: string }> => {
  await context.store.transaction((tx) =>
    insertDirectory(tx.db, { id, path, kind, state: 'making', projectId, taskId, nowMs: context.clock.nowMs() }),
  );
  const made = await makeOwned(path);
  await context.store.transaction((tx) => updateDirectory(tx.db, id, { device: made.device, inode: made.inode }));
  return { id, ...made };
};

/** Removes a recorded directory by the one deletion path, then its row. Whether it is gone is looked at first. */
export const removeDirectory = async (context: WorkspaceContext, row: DirectoryRow): Promise<void> => {
  await context.store.transaction((tx) => updateDirectory(tx.db, row.id, { state: 'removing' }));
  const recorded = ownedOf(row) ?? unrecorded(row);
  if (recorded !== null) await context.remover.remove(recorded);
  await context.store.transaction((tx) => deleteDirectory(tx.db, row.id));
};

/** A directory that was made just before a crash: its name is unguessable and recorded, and no one was given it yet. */
const unrecorded = ({ path, state }: DirectoryRow): OwnedDirectory | null => {
  const found = lookAt(path);
  return found === null || !found.isDirectory() || !['making', 'removing'].includes(state)
    ? null
    : { path, device: found.dev, inode: found.ino };
};

/** Checks that a recorded directory is still the one that was made. Throws `path_refused`. */
export const checkIdentity = (row: DirectoryRow): void => {
  const found = lookAt(row.path);
  if (found !== null && found.isDirectory() && found.dev === row.device && found.ino === row.inode) return;
  throw new OrreryError('path_refused', `${row.path} is no longer the directory that the node made.`, {
    rule: 'A checkout is used only where and as it was recorded.',
    fix: 'orrery doctor',
  });
};
