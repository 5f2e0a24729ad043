import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { absoluteBytes, lookAt, showBytes, walkTree } from './tree-walk.ts';

let root = '';
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'orrery-walk-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a walk', () => {
  it('finds everything with its type, byte names too, and follows no link', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    writeFileSync(join(root, 'a/b/file'), '');
    symlinkSync('/etc', join(root, 'a/link'));
    symlinkSync('..', join(root, 'loop'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    writeFileSync(absoluteBytes(root, '\xff\xfe'), '');
    writeFileSync(join(root, 'ünï'), '');
    const found = (await walkTree(root))
      .map(({ path, type }) => `${type} ${path === '\xff\xfe' ? 'bytes' : showBytes(path)}`)
      .sort();
    expect(found).toEqual(
      ['file a/b/file', 'file bytes', 'file ünï', 'folder a', 'folder a/b', 'link a/link', 'link loop', 'special fifo'].sort(),
    );
  });

  it('opens a folder up that forbids reading, and leaves skipped ones out', async () => {
    mkdirSync(join(root, 'closed'));
    mkdirSync(join(root, 'skipped'));
    writeFileSync(join(root, 'closed/file'), '');
    writeFileSync(join(root, 'skipped/file'), '');
    chmodSync(join(root, 'closed'), 0);
    expect((await walkTree(root, { skip: (path) => path === 'skipped' })).map(({ path }) => path)).toEqual([
      'closed',
      'closed/file',
    ]);
  });

  it('does not enter folders in folders beyond the longest path, and does not fail', async () => {
    // Relative steps: no single path reaches the bottom.
    const chain = 'd'.repeat(200);
    execFileSync('sh', ['-c', `i=0; while [ $i -lt 30 ]; do mkdir ${chain} && cd -P ${chain} || exit 1; i=$((i+1)); done`], {
      cwd: root,
    });
    writeFileSync(join(root, 'work'), '');
    const found = await walkTree(root);
    expect(found.map(({ type }) => type)).toEqual(expect.arrayContaining(['file', 'deep']));
    expect(found.filter(({ type }) => type === 'deep')).toHaveLength(1);
    execFileSync('rm', ['-rf', join(root, chain)]);
  });

  it('is refused beyond its limit', async () => {
    for (let at = 0; at < 5; at++) writeFileSync(join(root, `f${at}`), '');
    await expect(walkTree(root, { limit: 4 })).rejects.toMatchObject({ code: 'input_too_large' });
  });

  it('of a path where nothing is says so', () => {
    expect(lookAt(join(root, 'nothing'))).toBeNull();
  });
});
