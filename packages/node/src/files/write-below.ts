// Writing into a tree that an agent may change at the same time: no link of its own leads anywhere else.

import { constants } from 'node:fs';
import { access, mkdir, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { randomHex, systemRandom } from '../kernel/random.ts';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a private file below a directory, whole or not at all; folders on the way are made. A link or file where a folder
 * should be is refused, one in the place of the file itself is replaced. @throws OrreryError conflict
 */
export const writeBelow = async (root: string, path: string, content: string | Uint8Array): Promise<void> => {
  const names = normalize(`/${path}`).split('/').filter(Boolean);
  const name = names.pop();
  if (name === undefined) throw new Error('a path below a directory names a file');
  const byDescriptor = await hasDescriptors();
  let at = { path: root, folder: await open(root, constants.O_RDONLY | constants.O_DIRECTORY) };
  try {
    for (const part of names) {
      const next = await below(at, part, byDescriptor);
      await at.folder.close();
      at = next;
    }
    await writeIn(placeOf(at, byDescriptor), name, content);
  } finally {
    await at.folder.close();
  }
};

type Folder = { readonly path: string; readonly folder: FileHandle };

/** A folder that was opened stays that folder, whatever becomes of its name. */
const placeOf = ({ path, folder }: Folder, byDescriptor: boolean): string => (byDescriptor ? `/proc/self/fd/${folder.fd}` : path);

const hasDescriptors = (): Promise<boolean> =>
  access('/proc/self/fd').then(
    () => true,
    () => false,
  );

const below = async (at: Folder, part: string, byDescriptor: boolean): Promise<Folder> => {
  const place = join(placeOf(at, byDescriptor), part);
  const path = join(at.path, part);
  await mkdir(place, { mode: 0o700 }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EEXIST') throw thrown;
  });
  try {
    return { path, folder: await open(place, DIRECTORY) };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'ELOOP' && code !== 'ENOTDIR') throw thrown;
    throw inTheWay(path, thrown);
  }
};

const writeIn = async (place: string, name: string, content: string | Uint8Array): Promise<void> => {
  const fresh = join(place, `.${name}.${randomHex(systemRandom, 8)}`);
  const file = await open(fresh, NEW_FILE, 0o600);
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
  try {
    await rename(fresh, join(place, name));
  } catch (thrown) {
    await unlink(fresh);
    throw inTheWay(name, thrown);
  }
};

/** What stands where a folder of a program should be. */
export const inTheWay = (path: string, cause?: unknown): OrreryError =>
  new OrreryError('conflict', `${path} is in the way of a file that a program needs.`, {
    rule: 'Files of a program are written into folders of its home, through no link.',
    fix: 'Take it away there, or begin with a new home: orrery env recreate NAME',
    cause,
  });
