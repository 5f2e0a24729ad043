import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import type { LeftOut } from '@orrery/protocol';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

const numbers = Array.from({ length: 60 }, (_, place) => `${place + 1}\n`).join('');

beforeEach(async () => {
  node = await openGitNode();
  root = plainRepository(node.folder).root;
  writeFiles(root, { 'numbers.txt': numbers, 'moves.txt': numbers, 'goes.txt': 'it goes\n' });
  writeFileSync(join(root, 'old.bin'), Buffer.from([0, 1, 2, 255]));
  baseSha = commitAll(root, 'files');
  projectId = (await node.projects.add({ source: root })).id;
});
afterEach(() => node.close());

/** Does a task's work; answers its result. */
const work = async (change: (tree: string) => void) => {
  const checkout = await node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha });
  change(checkout.path);
  const { headSha } = await node.workspace.collect(checkout.id, { attempt: 1 });
  return { taskId: 'tsk_a', projectId, baseSha, headSha };
};

const changed = numbers.replace('\n5\n', '\nfive\n').replace('\n50\n', '\nfifty\n');

describe('a result under review', () => {
  it('is a list of files with counts and sizes, moved and binary ones too', async () => {
    const result = await work((tree) => {
      renameSync(join(tree, 'moves.txt'), join(tree, 'moved\n.txt'));
      writeFiles(tree, { 'numbers.txt': changed });
      writeFileSync(join(tree, 'old.bin'), Buffer.from([0, 1, 2, 3, 4, 255]));
    });
    const { files, ...rest } = await node.results.changes(result);
    expect(rest).toEqual({ baseSha, headSha: result.headSha, filesChanged: 3, insertions: 2, deletions: 2 });
    const shown = files.map((file) => [file.oldPath, file.path, file.insertions, file.bytesBefore, file.bytesAfter]);
    expect(shown).toEqual([
      ['moves.txt', 'moved\n.txt', 0, 171, 171],
      [null, 'numbers.txt', 2, 171, 177],
      [null, 'old.bin', null, 4, 6],
    ]);
    const moved = { path: 'moved\n.txt', oldPath: 'moves.txt', whole: false };
    expect(await node.results.change(result, moved)).toMatchObject({ binary: false, hunks: [], truncated: false });
    const binary = { path: 'old.bin', oldPath: null, whole: false };
    expect(await node.results.change(result, binary)).toMatchObject({ binary: true, hunks: [] });
  });

  it('has the hunks of one file, and says which file it does not touch', async () => {
    const result = await work((tree) => writeFiles(tree, { 'numbers.txt': changed }));
    const { hunks } = await node.results.change(result, { path: 'numbers.txt', oldPath: null, whole: false });
    expect(hunks.map(({ key, lines }) => [key, lines.filter((line) => !line.startsWith(' '))])).toEqual([
      ['2-2', ['-5', '+five']],
      ['47-47', ['-50', '+fifty']],
    ]);
    // A name is a name, whatever Git would make of it.
    for (const path of ['goes.txt', '*', ':/', '--', '../numbers.txt'])
      await expect(node.results.change(result, { path, oldPath: null, whole: false })).rejects.toSatisfy((thrown) =>
        ['not_found', 'git_failed'].includes((thrown as { code: string }).code),
      );
  });

  it('is cut at its bound, at a whole line, and says so', async () => {
    const result = await work((tree) => writeFiles(tree, { 'long.txt': 'a line of twenty !!\n'.repeat(30_000) }));
    const cut = await node.results.change(result, { path: 'long.txt', oldPath: null, whole: false });
    expect(cut.truncated).toBe(true);
    expect(new Set(cut.hunks[0]?.lines)).toEqual(new Set(['+a line of twenty !!']));
    const whole = await node.results.change(result, { path: 'long.txt', oldPath: null, whole: true });
    expect([whole.truncated, whole.hunks[0]?.lines.length]).toEqual([false, 30_000]);
    expect(gitIn(root, 'status', '--porcelain')).toBe('');
  });
});

describe('a result in part', () => {
  const apply = async (result: Awaited<ReturnType<typeof work>>, without: LeftOut) =>
    node.results.apply({ ...result, mode: 'tree', branch: 'orrery/tsk_a', without });

  it('has what was not left out, exactly there, and is the same commit each time', async () => {
    // Blocks that are alike: a hunk that is looked for elsewhere would be found.
    const block = 'same\n'.repeat(12);
    writeFiles(root, { 'blocks.txt': `${block}1\n${block}1\n${block}1\n${block}` });
    baseSha = commitAll(root, 'blocks');
    await node.projects.refresh(projectId);
    const result = await work((tree) => {
      writeFiles(tree, { 'blocks.txt': `${block}one\nmore\n${block}two\n${block}three\n${block}`, 'new.txt': 'new\n' });
      renameSync(join(tree, 'moves.txt'), join(tree, 'moved.txt'));
      rmSync(join(tree, 'goes.txt'));
      writeFileSync(join(tree, 'old.bin'), Buffer.from([0, 9]));
    });
    const { hunks } = await node.results.change(result, { path: 'blocks.txt', oldPath: null, whole: false });
    const [first, , third] = hunks.map(({ key }) => key);
    const without = [
      { path: 'blocks.txt', hunks: [first ?? '', third ?? ''] },
      ...['new.txt', 'moved.txt', 'goes.txt', 'old.bin'].map((path) => ({ path })),
    ];
    const applied = await apply(result, without);
    expect(applied).toMatchObject({ treeUpdated: true, branch: 'main' });
    expect(readFileSync(join(root, 'blocks.txt'), 'utf8')).toBe(`${block}1\n${block}two\n${block}1\n${block}`);
    expect(gitIn(root, 'diff', '--name-status', baseSha, 'HEAD')).toBe('M\tblocks.txt');
    expect(gitIn(root, 'rev-parse', 'HEAD^')).toBe(baseSha);
    expect((await apply(result, without)).note).toBe('main has it already.');
    expect(gitIn(root, 'status', '--porcelain')).toBe('');
    expect(gitIn(root, 'fsck', '--no-dangling')).toBe('');
  });

  it('takes a hunk from a file that moved, and keeps the move', async () => {
    const result = await work((tree) => {
      rmSync(join(tree, 'moves.txt'));
      writeFiles(tree, { 'moved "to".txt': changed });
    });
    await apply(result, [{ path: 'moved "to".txt', hunks: ['47-47'] }]);
    expect(readFileSync(join(root, 'moved "to".txt'), 'utf8')).toBe(numbers.replace('\n5\n', '\nfive\n'));
    expect(gitIn(root, 'ls-files', 'moves.txt')).toBe('');
  });

  it('is refused for what the change has not, and when nothing is left; then nothing was touched', async () => {
    const result = await work((tree) => writeFiles(tree, { 'numbers.txt': changed }));
    const before = gitIn(root, 'for-each-ref');
    await expect(apply(result, [{ path: 'goes.txt' }])).rejects.toMatchObject({ code: 'not_found' });
    await expect(apply(result, [{ path: 'numbers.txt', hunks: ['3-3'] }])).rejects.toMatchObject({ code: 'conflict' });
    const all = { path: 'numbers.txt', hunks: ['2-2', '47-47'] };
    await expect(apply(result, [all])).rejects.toMatchObject({ code: 'invalid_input' });
    expect([gitIn(root, 'for-each-ref'), gitIn(root, 'status', '--porcelain')]).toEqual([before, '']);
  });
});
