import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MEMORY_FILE_BYTES } from '../kernel/limits.ts';
import { copyTree } from './copy-tree.ts';
import { mergeTree, treeState, type TreeState } from './merge-tree.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-merge-'));
  for (const name of ['master', 'one', 'two']) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, folder, path)), { recursive: true });
    writeFileSync(join(root, folder, path), text);
  }
};
const listed = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(join(root, folder).length + 1), readFileSync(path, 'utf8')]),
  );
const carry = async (copy: string): Promise<TreeState> => {
  await copyTree(join(root, 'master'), join(root, copy));
  return treeState(join(root, 'master'));
};
const merge = (copy: string, base: TreeState) =>
  mergeTree({ master: join(root, 'master'), base, copy: join(root, copy), mark: copy });

describe('a merge of what was done in a copy', () => {
  it('takes over what is new, changed and deleted, with folders that are empty then', async () => {
    write('master', { keep: '1', 'folder/old': 'old', change: 'before' });
    const base = await carry('one');
    write('one', { change: 'after', 'new/deep/file': 'new' });
    rmSync(join(root, 'one/folder'), { recursive: true });
    expect(await merge('one', base)).toEqual({ changed: 2, deleted: 1, notes: [] });
    expect(listed('master')).toEqual({ keep: '1', change: 'after', 'new/deep/file': 'new' });
    expect(existsSync(join(root, 'master/folder'))).toBe(false);
  });

  it('of two that were given away together keeps both versions side by side, and what one deleted and the other changed', async () => {
    write('master', { same: '0', gone: '0', agreed: '0' });
    const base = await carry('one');
    await carry('two');
    write('one', { same: 'one', agreed: 'both', 'only-one': '1' });
    write('two', { same: 'two', gone: 'changed', agreed: 'both', 'only-two': '2' });
    rmSync(join(root, 'one/gone'));
    await merge('two', base);
    const { notes } = await merge('one', base);
    expect(listed('master')).toEqual({
      same: 'two',
      'same.one': 'one',
      gone: 'changed',
      agreed: 'both',
      'only-one': '1',
      'only-two': '2',
    });
    expect(notes).toHaveLength(2);
  });

  it('is finished by another when it was cut off, and changes nothing when it is repeated', async () => {
    write('master', { a: '0', b: '0' });
    const base = await carry('one');
    write('one', { a: '1', c: '1' });
    rmSync(join(root, 'one/b'));
    write('master', { a: '1' });
    await merge('one', base);
    const once = listed('master');
    expect(once).toEqual({ a: '1', c: '1' });
    expect(await merge('one', base)).toMatchObject({ changed: 0, deleted: 0 });
    expect(listed('master')).toEqual(once);
  });

  it('keeps a file and a folder of one name both, whoever has which', async () => {
    write('master', { thing: 'file' });
    const base = await carry('one');
    write('master', { other: 'x' });
    rmSync(join(root, 'master/other'));
    write('master', { 'other/inside': 'x', thing: 'changed' });
    rmSync(join(root, 'one/thing'));
    write('one', { 'thing/inside': 'y', other: 'file' });
    await merge('one', base);
    expect(listed('master')).toEqual({ thing: 'changed', 'thing.one/inside': 'y', 'other/inside': 'x', 'other.one': 'file' });
  });

  it('opens no link, pipe or device, follows nothing out of the copy, and deletes nothing for what it could not read', async () => {
    write('master', { big: 'small', note: 'note' });
    const base = await carry('one');
    const secret = join(root, 'secret');
    writeFileSync(secret, 'secret');
    symlinkSync(secret, join(root, 'one/link'));
    symlinkSync(root, join(root, 'one/out'));
    execFileSync('mkfifo', [join(root, 'one/pipe')]);
    // Sparse: it takes no room on the disk.
    truncateSync(join(root, 'one/big'), MEMORY_FILE_BYTES + 1);
    const { notes } = await merge('one', base);
    expect(listed('master')).toEqual({ big: 'small', note: 'note' });
    expect(notes.map((note) => note.split(' ')[0] ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'big',
      'link',
      'out',
      'pipe',
    ]);
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });
});
