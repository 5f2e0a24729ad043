import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  root = plainRepository(node.folder).root;
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId = 'tsk_a'): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha });
const mirror = (): string => node.workspace.mirrorOf(projectId);
const slots = () =>
  node.store.read
    .selectFrom('checkout')
    .select(['kind', 'state', 'task_id'])
    .where('kind', '!=', 'mirror')
    .orderBy('kind')
    .execute();

const lost: Record<string, { work: (path: string) => void; reason: string }> = {
  'a changed file': { work: (path) => writeFiles(path, { 'src/main.txt': 'changed\n' }), reason: 'files that are not committed' },
  'an untracked file': { work: (path) => writeFiles(path, { 'new.txt': 'new\n' }), reason: 'files that are not committed' },
  'a deleted file': {
    work: (path) => renameSync(join(path, 'README.md'), join(path, 'build.log')),
    reason: 'files that are not committed',
  },
  'a changed mode': { work: (path) => chmodSync(join(path, 'README.md'), 0o755), reason: 'files that are not committed' },
  'a commit': { work: (path) => void [writeFiles(path, { 'new.txt': 'new\n' }), commitAll(path, 'work')], reason: 'commits' },
  'a commit on another branch': {
    work: (path) => {
      gitIn(path, 'checkout', '-q', '-b', 'side');
      writeFiles(path, { 'new.txt': 'new\n' });
      commitAll(path, 'side');
      gitIn(path, 'checkout', '-q', 'orrery/tsk_a');
    },
    reason: 'other branches',
  },
  'a stash': {
    work: (path) => void [writeFiles(path, { 'src/main.txt': 'stashed\n' }), gitIn(path, 'stash', 'push', '-q')],
    reason: 'stash entries',
  },
  'an older stash': {
    work: (path) => {
      for (const text of ['one\n', 'two\n']) {
        writeFiles(path, { 'src/main.txt': text });
        gitIn(path, 'stash', 'push', '-q');
      }
    },
    reason: 'stash entries',
  },
};

describe('a release', () => {
  it.each(Object.entries(lost))(
    'refuses %s that nothing else has, saves it when asked to, and cleans then',
    async (_, { work, reason }) => {
      const checkout = await claim();
      work(checkout.path);
      await expect(node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).rejects.toMatchObject({
        code: 'unsaved_work',
        details: { reasons: [reason] },
      });
      expect(await slots()).toEqual([{ kind: 'slot', state: 'claimed', task_id: 'tsk_a' }]);
      const saved = await node.workspace.release(checkout.id, { salvage: true, reason: 'the task was cancelled' });
      expect(saved.map(({ ref }) => ref)).toEqual(saved.map((_one, index) => `refs/orrery/salvage/tsk_a/${index + 1}`));
      expect(saved.length).toBeGreaterThan(0);
      expect(saved.map(({ ref }) => gitIn(mirror(), 'rev-parse', ref))).toEqual(saved.map(({ sha }) => sha));
      await node.workspace.settled();
      const next = await claim('tsk_b');
      expect({
        warm: next.warm,
        status: gitIn(next.path, 'status', '--porcelain', '--ignored'),
        branches: gitIn(next.path, 'branch', '--format=%(refname:short)'),
      }).toEqual({ warm: true, status: '', branches: 'orrery/tsk_b' });
    },
  );

  it('asks for nothing when all is collected, and again when something came after', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'new.txt': 'new\n' });
    await node.workspace.collect(checkout.id, { attempt: 1 });
    writeFiles(checkout.path, { 'later.txt': 'later\n' });
    await expect(node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).rejects.toMatchObject({
      code: 'unsaved_work',
    });
    await node.workspace.collect(checkout.id, { attempt: 2 });
    expect(await node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).toEqual([]);
  });

  it('moves ignored files aside, lists them, and takes them after their days, dry run first', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'build/out/x.bin': 'binary', 'debug.log': 'log' });
    mkdirSync(join(checkout.path, 'empty/folder'), { recursive: true });
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    const aside = await node.workspace.aside();
    const [first] = aside;
    if (first === undefined) throw new Error('nothing is aside');
    expect(aside.map(({ taskId }) => taskId)).toEqual(['tsk_a']);
    expect([
      readFileSync(join(first.path, 'build/out/x.bin'), 'utf8'),
      readFileSync(join(first.path, 'debug.log'), 'utf8'),
    ]).toEqual(['binary', 'log']);
    expect(await node.workspace.reclaim({ dryRun: false })).toEqual([]);
    expect(await node.workspace.reclaim({ dryRun: true, days: 0 })).toEqual([
      { id: first.id, path: first.path, kind: 'aside', bytes: 9, ageDays: 0 },
    ]);
    expect(existsSync(first.path)).toBe(true);
    await node.workspace.reclaim({ dryRun: false, days: 0 });
    expect({ there: existsSync(first.path), aside: await node.workspace.aside() }).toEqual({ there: false, aside: [] });
  });

  it('keeps no more warm slots than it should, and never gives one to two tasks', async () => {
    const checkouts = await Promise.all(['tsk_1', 'tsk_2', 'tsk_3'].map(claim));
    expect(new Set(checkouts.map(({ path }) => path)).size).toBe(3);
    for (const { id } of checkouts) await node.workspace.release(id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    expect(await slots()).toEqual([{ kind: 'slot', state: 'ready', task_id: null }]);
    const again = await Promise.all(['tsk_4', 'tsk_5'].map(claim));
    expect(again.filter(({ warm }) => warm).length).toBe(1);
    expect(readdirSync(join(node.dataDirectory, 'workspaces', projectId)).length).toBe(2);
  });

  it('brings a warm slot to another base', async () => {
    const checkout = await claim();
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    writeFiles(root, { 'src/main.txt': 'second\n', 'added/later.txt': 'later\n' });
    gitIn(root, 'rm', '-q', 'run.sh');
    const second = commitAll(root, 'second');
    await node.projects.refresh(projectId);
    const next = await node.workspace.claim({ projectId, taskId: 'tsk_b', baseSha: second });
    expect({
      warm: next.warm,
      status: gitIn(next.path, 'status', '--porcelain', '--ignored'),
      head: gitIn(next.path, 'rev-parse', 'HEAD'),
      files: readdirSync(next.path).sort(),
    }).toEqual({
      warm: true,
      status: '',
      head: second,
      files: ['.git', '.gitignore', 'README.md', 'added', 'src'],
    });
  });

  it('of a scratch place keeps what is in it for its days, and nothing when it is empty', async () => {
    const full = await node.workspace.scratch('tsk_s');
    expect({
      project: full.projectId,
      base: full.baseSha,
      readOnly: full.readOnlyPaths,
      entries: readdirSync(full.path),
    }).toEqual({ project: null, base: null, readOnly: [], entries: [] });
    writeFileSync(join(full.path, 'made.txt'), 'made');
    await node.workspace.release(full.id, { salvage: true, reason: 'test' });
    const empty = await node.workspace.scratch('tsk_t');
    await node.workspace.release(empty.id, { salvage: true, reason: 'test' });
    expect(
      (await node.workspace.aside()).map(({ taskId, path }) => [taskId, readFileSync(join(path, 'tree/made.txt'), 'utf8')]),
    ).toEqual([['tsk_s', 'made']]);
    expect(existsSync(empty.path)).toBe(false);
  });

  it('that comes late does not reach the task that has the slot now', async () => {
    const first = await claim('tsk_1');
    await node.workspace.release(first.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    const second = await claim('tsk_2');
    writeFiles(second.path, { 'new.txt': 'new\n' });
    expect({
      same: second.path === first.path,
      late: await node.workspace.release(first.id, { salvage: true, reason: 'late' }),
    }).toEqual({ same: true, late: [] });
    await expect(node.workspace.collect(first.id, { attempt: 1 })).rejects.toMatchObject({ code: 'not_found' });
    expect(readFileSync(join(second.path, 'new.txt'), 'utf8')).toBe('new\n');
  });

  it('of a checkout whose folder the agent removed takes the rest away', async () => {
    const checkout = await claim();
    renameSync(checkout.path, join(node.folder, 'gone'));
    await expect(node.workspace.collect(checkout.id, { attempt: 1 })).rejects.toMatchObject({ code: 'path_refused' });
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    expect(await slots()).toEqual([]);
  });

  it('goes on where a Git command was ended in the middle', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'new.txt': 'new\n' });
    for (const name of ['index.lock', 'index.snapshot.lock', 'index.scrub.lock'])
      writeFileSync(join(checkout.path, '..', name), '');
    expect((await node.workspace.collect(checkout.id, { attempt: 1 })).files.length).toBe(1);
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    expect((await claim('tsk_b')).warm).toBe(true);
  });

  it('never touches a directory that took the place of the recorded one', async () => {
    const checkout = await claim();
    const slot = join(checkout.path, '..');
    renameSync(slot, `${slot}-moved`);
    mkdirSync(checkout.path, { recursive: true });
    writeFileSync(join(checkout.path, 'x'), 'x');
    await expect(node.workspace.release(checkout.id, { salvage: true, reason: 'test' })).rejects.toMatchObject({
      code: 'path_refused',
    });
    expect(readFileSync(join(checkout.path, 'x'), 'utf8')).toBe('x');
  });
});

describe('a claim', () => {
  it('of a commit that the mirror lacks fails and leaves nothing', async () => {
    await expect(node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha: '1'.repeat(40) })).rejects.toMatchObject({
      code: 'git_failed',
    });
    await node.workspace.settled();
    expect({ slots: await slots(), disk: readdirSync(join(node.dataDirectory, 'workspaces', projectId)) }).toEqual({
      slots: [],
      disk: [],
    });
  });

  it('takes the branch it was asked for, and refuses what is no branch name', async () => {
    const checkout = await node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha, branch: 'team/feature' });
    expect(gitIn(checkout.path, 'symbolic-ref', 'HEAD')).toBe('refs/heads/team/feature');
    await expect(node.workspace.claim({ projectId, taskId: 'tsk_b', baseSha, branch: '../x' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('shares no inode with the mirror or with another checkout', async () => {
    const [one, two] = [await claim('tsk_1'), await claim('tsk_2')];
    const inodes = [one, two].map(({ path }) => statSync(join(path, 'README.md')).ino);
    expect(inodes[0]).not.toBe(inodes[1]);
    expect(
      [one, two].map(({ path }) => [statSync(join(path, 'README.md')).nlink, statSync(join(path, '.git/index')).nlink]),
    ).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(readdirSync(join(one.path, '.git/objects')).sort()).toEqual(['info', 'pack']);
  });
});
