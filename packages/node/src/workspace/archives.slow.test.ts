import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createLocalTrees } from '../keeper/trees.ts';
import { directSpawner } from '../kernel/spawner.ts';
import { createArchives, type Archives } from './archives.ts';

const ID = 'env_01j0000000000000000000000a';
const OLD = 'env_01j0000000000000000000000b';
const long = `${'deep/'.repeat(60)}${'name'.repeat(30)}.txt`;
const trees = createLocalTrees({
  binary: () => findKeeperBinary({ explicit: process.env['ORRERY_KEEPER'] }),
  spawner: directSpawner,
});

let place = '';
let archives: Archives;

const archiveOf = async (id: string, files: Readonly<Record<string, string>>): Promise<void> => {
  const tree = join(place, `tree-${id}`);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(tree, path, '..'), { recursive: true });
    writeFileSync(join(tree, path), content);
  }
  const { archive, done } = trees.pack(tree);
  await Promise.all([pipeline(archive, createWriteStream(join(place, 'salvage', `${id}.tar`))), done]);
};

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'orrery-archives-'));
  mkdirSync(join(place, 'salvage'));
  mkdirSync(join(place, 'own'));
  archives = createArchives({ directory: join(place, 'salvage'), trees, ownFolders: [join(place, 'own')] });
  await archiveOf(ID, { 'a.txt': 'a', 'b/c.bin': 'x'.repeat(70_000), [long]: 'deep' });
});
afterEach(async () => rm(place, { recursive: true, force: true }));

describe('archives of lost places', () => {
  it('are listed newest first, told by their names, unpacked as they were, and deleted', async () => {
    await archiveOf(OLD, { old: 'old' });
    await utimes(join(place, 'salvage', `${OLD}.tar`), 1_000, 1_000);
    writeFileSync(join(place, 'salvage', `${OLD}.tar.new`), 'half');
    expect((await archives.list()).map(({ id }) => id)).toEqual([ID, OLD]);
    const { count, paths } = await archives.names(ID);
    expect([count, paths.toSorted()]).toEqual([3, ['a.txt', 'b/c.bin', long].toSorted()]);
    const folder = join(place, 'out');
    await archives.unpack(ID, folder);
    expect([readFileSync(join(folder, long), 'utf8'), readFileSync(join(folder, 'b/c.bin')).length]).toEqual(['deep', 70_000]);
    await archives.remove(ID);
    expect((await archives.list()).map(({ id }) => id)).toEqual([OLD]);
    await expect(archives.names(ID)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('go into a folder of their own and nowhere else, and no other file is taken for one', async () => {
    for (const folder of [place, join(place, 'own/x'), join(place, 'missing/x'), 'relative'])
      await expect(archives.unpack(ID, folder)).rejects.toMatchObject({ code: 'path_refused' });
    expect(existsSync(join(place, 'own/x'))).toBe(false);
    for (const id of ['../salvage/x', 'env_x', OLD])
      await expect(archives.remove(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are told as far as they can be read when they are cut short or no archive', async () => {
    const file = join(place, 'salvage', `${ID}.tar`);
    writeFileSync(file, readFileSync(file).subarray(0, 700));
    expect((await archives.names(ID)).count).toBeLessThanOrEqual(1);
    writeFileSync(file, 'x'.repeat(5_000));
    expect((await archives.names(ID)).count).toBeLessThanOrEqual(1);
  });
});
