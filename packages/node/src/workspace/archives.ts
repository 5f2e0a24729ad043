// Archives of lost places: what was done in a place elsewhere that nobody came back to (see exec/remote). Each is one file,
// named after its environment. They are read, unpacked and deleted here; no task or checkout has them.

import { createReadStream } from 'node:fs';
import { mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import { isId } from '@orrery/protocol/ids';
import { lookAt } from '../files/tree-walk.ts';
import type { LocalTrees } from '../keeper/trees.ts';
import { ARCHIVE_PATHS } from '../kernel/limits.ts';
import { archiveNames, type ArchiveNames } from './archive-names.ts';

/** One archive. Its id is that of its environment. */
export type Archive = { readonly id: string; readonly bytes: number; readonly savedAtMs: number };

export type Archives = {
  /** Every archive, newest first. */
  list(): Promise<readonly Archive[]>;
  /** @throws OrreryError not_found */
  find(id: string): Promise<Archive>;
  names(id: string): Promise<ArchiveNames>;
  /** Unpacks one into a folder that is made for it. @throws OrreryError not_found, path_refused, disk_full */
  unpack(id: string, folder: string): Promise<void>;
  /** @throws OrreryError not_found */
  remove(id: string): Promise<void>;
};

export type ArchiveParts = {
  /** Where they lie. */
  readonly directory: string;
  readonly trees: Pick<LocalTrees, 'unpack'>;
  /** Folders of the node: nothing is unpacked there. */
  readonly ownFolders: readonly string[];
};

/** Makes it. */
export const createArchives = ({ directory, trees, ownFolders }: ArchiveParts): Archives => {
  const fileOf = (id: string): string => {
    if (!isId('environment', id)) throw notFound(id);
    return join(directory, `${id}.tar`);
  };
  const find = async (id: string): Promise<Archive> => {
    const found = await stat(fileOf(id)).catch(() => null);
    if (found === null || !found.isFile()) throw notFound(id);
    return { id, bytes: found.size, savedAtMs: Math.floor(found.mtimeMs) };
  };
  return {
    find,
    async list() {
      const names = await readdir(directory).catch((): string[] => []);
      const ids = names.flatMap((name) => (name.endsWith('.tar') ? [name.slice(0, -'.tar'.length)] : []));
      const found = await Promise.all(ids.filter((id) => isId('environment', id)).map((id) => find(id).catch(() => null)));
      return found.filter((one) => one !== null).toSorted((a, b) => b.savedAtMs - a.savedAtMs);
    },
    names: async (id) => archiveNames((await find(id), fileOf(id)), ARCHIVE_PATHS),
    async unpack(id, folder) {
      await find(id);
      await makeFolder(folder, ownFolders);
      await trees.unpack(folder, createReadStream(fileOf(id)));
    },
    async remove(id) {
      await find(id);
      await unlink(fileOf(id));
    },
  };
};

const makeFolder = async (folder: string, ownFolders: readonly string[]): Promise<void> => {
  const isBelow = (root: string): boolean => !/^\.\.(\/|$)/.test(relative(root, folder));
  const why = !isAbsolute(folder)
    ? 'it is no absolute path'
    : ownFolders.some(isBelow)
      ? 'it is the node’s own'
      : lookAt(folder) !== null
        ? 'it is there already'
        : lookAt(dirname(folder))?.isDirectory() !== true
          ? 'the folder it is to be in is not there'
          : null;
  if (why !== null)
    throw new OrreryError('path_refused', `Nothing is unpacked into ${folder}: ${why}.`, {
      rule: 'An archive is unpacked into a folder that is made for it, on the machine of the node.',
      fix: 'orrery salvage restore ENV --folder FOLDER',
    });
  await mkdir(folder, { mode: 0o700 });
};

const notFound = (id: string): OrreryError =>
  new OrreryError('not_found', `There is no saved work ${id.slice(0, 60)}.`, {
    rule: 'Saved work is named by its whole id.',
    fix: 'orrery salvage list',
  });
