import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listCommittedTree, readTreeFiles } from './committed-tree.ts';
import { createGit } from './run.ts';

let folder = '';
let root = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-tree-'));
  root = plainRepository(folder).root;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the tree of a commit', () => {
  it('is what was committed, as plain blobs: no filter, no ignored attribute, no file of the work tree', async () => {
    writeFiles(root, {
      'app/one': 'first\n',
      'app/folder/ü\nx': 'odd name',
      'app/empty': '',
      application: 'beside',
      '.gitattributes': 'app/one export-ignore\napp/one filter=evil\n',
    });
    gitIn(root, 'config', 'filter.evil.smudge', 'echo changed');
    symlinkSync('/etc/passwd', join(root, 'app/link'));
    commitAll(root, 'a tree');
    const commit = gitIn(root, 'rev-parse', 'HEAD');
    writeFiles(root, { 'app/later': 'not committed', 'app/one': 'changed\n' });
    const gitDir = join(root, '.git');
    const { files } = await listCommittedTree(createGit(), gitDir, { commit, folder: 'app' });
    const contents: string[] = [];
    for await (const content of readTreeFiles(createGit(), gitDir, files)) contents.push(content.toString());
    expect(files.map(({ path, kind, bytes }, at) => [path, kind, bytes, contents[at]])).toEqual([
      ['empty', 'file', 0, ''],
      ['folder/ü\nx', 'file', 8, 'odd name'],
      ['link', 'link', 11, '/etc/passwd'],
      ['one', 'file', 6, 'first\n'],
    ]);
    expect((await listCommittedTree(createGit(), gitDir, { commit, folder: '.' })).files.length).toBeGreaterThan(files.length);
    expect((await listCommittedTree(createGit(), gitDir, { commit, folder: 'nothing' })).files).toEqual([]);
  });

  it('that cannot be read is an error, not an empty one', async () => {
    const asked = { commit: 'a'.repeat(40), folder: '.' };
    await expect(listCommittedTree(createGit(), join(root, '.git'), asked)).rejects.toMatchObject({
      code: 'repository_unusable',
    });
  });

  it('of many and of large files comes whole and in order', async () => {
    writeFiles(
      root,
      Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`many/${String(at).padStart(4, '0')}`, `${at}`])),
    );
    writeFiles(root, { 'many/large': 'x'.repeat(9_000_000), 'many/last': 'end' });
    commitAll(root, 'many');
    const gitDir = join(root, '.git');
    const { files } = await listCommittedTree(createGit(), gitDir, { commit: gitIn(root, 'rev-parse', 'HEAD'), folder: 'many' });
    const sizes: number[] = [];
    for await (const content of readTreeFiles(createGit(), gitDir, files)) sizes.push(content.length);
    expect(sizes).toEqual(files.map(({ bytes }) => bytes));
    expect(files).toHaveLength(1_502);
  });
});
