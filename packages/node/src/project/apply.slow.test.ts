import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, gitShapes, plainRepository, trickWorked, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Apply } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

const add = async (at: string): Promise<void> => {
  root = at;
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
};

beforeEach(async () => {
  node = await openGitNode();
  await add(plainRepository(node.folder).root);
});
afterEach(() => node.close());

/** Does a task's work and answers what is to be applied. */
const work = async (files: Record<string, string>, { taskId = 'tsk_a' }: { taskId?: string } = {}): Promise<Apply> => {
  const checkout = await node.workspace.claim({ projectId, taskId, baseSha });
  writeFiles(checkout.path, files);
  const { headSha } = await node.workspace.collect(checkout.id, { attempt: 1 });
  return { taskId, projectId, baseSha, headSha, mode: 'tree', branch: `orrery/${taskId}` };
};

/** All of the user's repository that an apply must leave as it was. */
const state = (): unknown => ({
  status: gitIn(root, 'status', '--porcelain', '--branch', '--untracked-files=all', '--ignored'),
  config: readFileSync(join(root, '.git/config'), 'utf8'),
  refs: gitIn(root, 'for-each-ref'),
  stash: gitIn(root, 'stash', 'list'),
  extra: readdirSync(join(root, '.git')).filter((name) => /HEAD$|lock$|MERGE|REBASE/.test(name)),
  head: gitIn(root, 'rev-parse', 'HEAD'),
  index: gitIn(root, 'ls-files', '--stage'),
});

const refusedAndUntouched = async (apply: Apply, code: string, message: RegExp): Promise<void> => {
  const before = state();
  await expect(node.results.apply(apply)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
    fix: expect.stringContaining('--branch'),
  });
  expect(state()).toEqual(before);
};

describe('a result as a branch', () => {
  it('is there with its commits, and nothing else of the repository moved, a dirty tree included', async () => {
    writeFiles(root, { 'README.md': 'dirty\n', 'untracked.txt': 'mine\n' });
    const apply = await work({ 'new.txt': 'new\n' });
    const before = state() as { refs: string };
    expect(await node.results.apply({ ...apply, mode: 'branch' })).toEqual({
      taskId: 'tsk_a',
      branch: 'orrery/tsk_a',
      headSha: apply.headSha,
      treeUpdated: false,
      note: 'The branch orrery/tsk_a has it now; no file was touched.',
    });
    expect(state()).toEqual({ ...before, refs: `${before.refs}\n${apply.headSha} commit\trefs/heads/orrery/tsk_a` });
    expect(gitIn(root, 'show', 'orrery/tsk_a:new.txt')).toBe('new');
    expect(gitIn(root, 'fsck', '--no-dangling')).toBe('');
    expect((await node.results.apply({ ...apply, mode: 'branch' })).note).toBe('The branch orrery/tsk_a has it already.');
  });

  it('moves a branch forward, and refuses one with other commits, checked out, or in the way of its name', async () => {
    const apply = { ...(await work({ 'new.txt': 'new\n' })), mode: 'branch' } as const;
    gitIn(root, 'branch', 'behind');
    expect((await node.results.apply({ ...apply, branch: 'behind' })).branch).toBe('behind');
    expect(gitIn(root, 'rev-parse', 'behind')).toBe(apply.headSha);
    gitIn(root, 'checkout', '-q', '-b', 'other');
    gitIn(root, 'commit', '-q', '--allow-empty', '-m', 'other');
    gitIn(root, 'checkout', '-q', 'main');
    gitIn(root, 'worktree', 'add', '-q', '-b', 'busy', join(node.folder, 'second'));
    await refusedAndUntouched({ ...apply, branch: 'other' }, 'conflict', /holds other commits/);
    await refusedAndUntouched({ ...apply, branch: 'main' }, 'conflict', /main is checked out at/);
    await refusedAndUntouched({ ...apply, branch: 'busy' }, 'conflict', /busy is checked out at .*second/);
    await refusedAndUntouched({ ...apply, branch: 'main/sub' }, 'conflict', /cannot be made beside the branch main/);
    await refusedAndUntouched({ ...apply, branch: '../../evil' }, 'invalid_input', /is not a branch name/);
  });

  it('comes into a bare repository, a shallow one and one with a remote whose URL is empty', async () => {
    for (const shape of [gitShapes.bare, gitShapes.shallowClone, gitShapes.emptyRemoteUrl]) {
      await add(shape(join(node.folder, `shape-${shape.name}`)).root);
      const apply = await work({ 'new.txt': 'new\n' }, { taskId: `tsk_${shape.name}` });
      await node.results.apply({ ...apply, mode: 'branch' });
      expect(gitIn(root, 'show', `${apply.branch}:new.txt`)).toBe('new');
    }
  });

  it('of a project that was added by a URL is refused with the command that fetches it', async () => {
    const project = await node.projects.add({ source: `file://${root}` });
    projectId = project.id;
    const apply = await work({ 'new.txt': 'new\n' });
    await expect(node.results.apply(apply)).rejects.toMatchObject({
      code: 'unsupported',
      fix: expect.stringMatching(/^git fetch ".*" [0-9a-f]{40}:refs\/heads\/orrery\/tsk_a$/),
    });
  });
});

describe('a result in the checked-out tree', () => {
  it('is refused, with the command that fetches it, where branches are in a reftable', async () => {
    const apply = await work({ 'new.txt': 'new\n' });
    mkdirSync(join(root, '.git/reftable'));
    const before = state();
    await expect(node.results.apply(apply)).rejects.toMatchObject({
      code: 'unsupported',
      fix: expect.stringMatching(/git fetch ".*" [0-9a-f]{40}:refs\/heads\/main$/),
    });
    expect(state()).toEqual(before);
  });

  it('moves a clean branch forward; its status is what it was, untracked and ignored files included', async () => {
    writeFiles(root, { 'untracked.txt': 'mine\n', 'debug.log': 'mine\n' });
    const apply = await work({ 'new.txt': 'new\n', 'src/main.txt': 'changed\n' });
    const before = state() as { status: string };
    expect(await node.results.apply(apply)).toEqual({
      taskId: 'tsk_a',
      branch: 'main',
      headSha: apply.headSha,
      treeUpdated: true,
      note: 'main was moved forward.',
    });
    const after = state() as { status: string };
    expect(after.status).toBe(before.status);
    expect({
      head: gitIn(root, 'rev-parse', 'main'),
      files: [readFileSync(join(root, 'new.txt'), 'utf8'), readFileSync(join(root, 'src/main.txt'), 'utf8')],
    }).toEqual({ head: apply.headSha, files: ['new\n', 'changed\n'] });
    expect((await node.results.apply(apply)).note).toBe('main has it already.');
  });

  it('merges with what came meanwhile, without anyone’s side being preferred', async () => {
    const apply = await work({ 'new.txt': 'new\n' });
    writeFiles(root, { 'README.md': '# meanwhile\n' });
    const meanwhile = commitAll(root, 'meanwhile');
    const applied = await node.results.apply(apply);
    expect({
      note: applied.note,
      parents: gitIn(root, 'log', '-1', '--format=%P'),
      status: gitIn(root, 'status', '--porcelain'),
    }).toEqual({ note: 'It was merged into main.', parents: `${meanwhile} ${apply.headSha}`, status: '' });
    expect([readFileSync(join(root, 'README.md'), 'utf8'), readFileSync(join(root, 'new.txt'), 'utf8')]).toEqual([
      '# meanwhile\n',
      'new\n',
    ]);
  });

  it('stops at a conflict and names the files', async () => {
    const apply = await work({ 'src/main.txt': 'theirs\n' });
    writeFiles(root, { 'src/main.txt': 'ours\n' });
    commitAll(root, 'ours');
    await refusedAndUntouched(apply, 'merge_conflict', /conflicts with the branch in src\/main\.txt/);
  });

  it.each([
    ['a changed file', () => writeFiles(root, { 'README.md': 'dirty\n' })],
    ['a staged file', () => void [writeFiles(root, { 'staged.txt': 'staged\n' }), gitIn(root, 'add', 'staged.txt')]],
    ['a deleted file', () => rmSync(join(root, 'README.md'))],
    ['a changed mode', () => chmodSync(join(root, 'README.md'), 0o755)],
  ])('is refused on a tree with %s', async (_, dirty) => {
    const apply = await work({ 'new.txt': 'new\n' });
    dirty();
    await refusedAndUntouched(apply, 'dirty_tree', /uncommitted changes/);
  });

  it.each([
    ['an untracked file', 'new.txt'],
    ['an ignored file', 'build/new.txt'],
  ])('is refused when %s is in the way, which is kept', async (_, path) => {
    const checkout = await node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha });
    writeFiles(checkout.path, { [path]: 'theirs\n' });
    gitIn(checkout.path, 'add', '-f', path);
    gitIn(checkout.path, 'commit', '-q', '-m', 'work');
    const { headSha } = await node.workspace.collect(checkout.id, { attempt: 1 });
    writeFiles(root, { [path]: 'mine\n' });
    await refusedAndUntouched(
      { taskId: 'tsk_a', projectId, baseSha, headSha, mode: 'tree', branch: 'orrery/tsk_a' },
      'dirty_tree',
      /in the way of the result/,
    );
    expect(readFileSync(join(root, path), 'utf8')).toBe('mine\n');
  });

  it('is refused when an untracked folder or link stands where a file or folder would go', async () => {
    const apply = await work({ 'made/inside.txt': 'theirs\n' });
    symlinkSync(node.home, join(root, 'made'));
    await refusedAndUntouched(apply, 'dirty_tree', /in the way of the result/);
    expect(readdirSync(node.home)).toEqual([]);
  });

  it('is refused on a detached HEAD, before the first commit and in the middle of a merge', async () => {
    const apply = await work({ 'src/main.txt': 'theirs\n' });
    gitIn(root, 'checkout', '-q', '--detach');
    await refusedAndUntouched(apply, 'unsupported', /HEAD is detached/);
    gitIn(root, 'checkout', '-q', '-b', 'side');
    writeFiles(root, { 'src/main.txt': 'side\n' });
    commitAll(root, 'side');
    gitIn(root, 'checkout', '-q', 'main');
    writeFiles(root, { 'other.txt': 'main\n' });
    commitAll(root, 'main');
    gitIn(root, 'merge', '-q', '--no-commit', '--no-ff', 'side');
    await refusedAndUntouched(apply, 'dirty_tree', /uncommitted changes|in the middle of/);
  });

  it('runs no hook of the user’s repository', async () => {
    const marker = join(node.folder, 'marker');
    for (const name of ['post-checkout', 'post-merge', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(root, '.git/hooks', name), `#!/bin/sh\ntouch '${marker}'\n`);
      chmodSync(join(root, '.git/hooks', name), 0o755);
    }
    const apply = await work({ 'new.txt': 'new\n' });
    await node.results.apply(apply);
    expect({ worked: trickWorked(marker), applied: existsSync(join(root, 'new.txt')) }).toEqual({ worked: false, applied: true });
  });

  it('with no change says so', async () => {
    const apply = await work({});
    expect(await node.results.apply(apply)).toEqual({
      taskId: 'tsk_a',
      branch: null,
      headSha: baseSha,
      treeUpdated: false,
      note: 'Nothing was changed; there is nothing to apply.',
    });
  });
});

describe('a diff', () => {
  it('lists files with their counts, renames and binaries, and the patch', async () => {
    const checkout = await node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha });
    gitIn(checkout.path, 'mv', 'src/main.txt', 'src/renamed.txt');
    rmSync(join(checkout.path, 'run.sh'));
    writeFiles(checkout.path, { 'README.md': '# plain\nmore\n', 'ünï "q".txt': 'x\n' });
    writeFileSync(join(checkout.path, 'binary'), Buffer.from([0, 1, 2]));
    const { headSha } = await node.workspace.collect(checkout.id, { attempt: 1 });
    const diff = await node.results.diff({ taskId: 'tsk_a', projectId, baseSha, headSha });
    expect(diff.files).toEqual([
      { path: 'README.md', oldPath: null, status: 'modified', insertions: 1, deletions: 0 },
      { path: 'binary', oldPath: null, status: 'added', insertions: null, deletions: null },
      { path: 'run.sh', oldPath: null, status: 'deleted', insertions: 0, deletions: 2 },
      { path: 'src/renamed.txt', oldPath: 'src/main.txt', status: 'renamed', insertions: 0, deletions: 0 },
      { path: 'ünï "q".txt', oldPath: null, status: 'added', insertions: 1, deletions: 0 },
    ]);
    expect({ truncated: diff.truncated, more: diff.patch.includes('+more\n') }).toEqual({ truncated: false, more: true });
  });

  it('is cut at 4 MiB and says so', async () => {
    const apply = await work({ 'large.txt': 'y'.repeat(99).concat('\n').repeat(60_000) });
    const diff = await node.results.diff(apply);
    expect({ truncated: diff.truncated, bytes: Buffer.byteLength(diff.patch), files: diff.files }).toEqual({
      truncated: true,
      bytes: 4 * 1024 * 1024,
      files: [{ path: 'large.txt', oldPath: null, status: 'added', insertions: 60_000, deletions: 0 }],
    });
  });
});
