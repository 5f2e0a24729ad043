import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout, CheckoutPoint } from './index.ts';

let node: GitNode;
let checkout: Checkout;
let saved: string[];

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  const { root } = plainRepository(node.folder);
  writeFiles(root, { '.gitignore': '*.log\n', 'kept.txt': 'kept\n', 'folder/in.txt': 'in\n' });
  commitAll(root, 'files');
  const project = await node.projects.add({ source: root });
  checkout = await node.workspace.claim({ projectId: project.id, taskId: 'env_a', baseSha: project.headSha ?? '' });
  saved = [];
});
afterEach(() => node.close());

let made = 0;
const checkpoint = (): Promise<CheckoutPoint> => node.workspace.checkpoint(checkout.id, { owner: 'ses_a', name: `c${++made}` });
const restore = (point: CheckoutPoint): Promise<readonly string[]> =>
  node.workspace.restore(checkout.id, {
    point,
    reason: 'a test',
    onSaved: async (refs) => void saved.push(...refs.map(({ ref }) => ref)),
  });
const at = (path: string): string => join(checkout.path, path);
const git = (...args: string[]): string => gitIn(checkout.path, ...args);
/** Everything that a person asks Git about a checkout. */
const state = () => ({
  head: git('rev-parse', 'HEAD'),
  branch: git('rev-parse', '--symbolic-full-name', 'HEAD'),
  status: git('status', '--porcelain=v1', '--untracked-files=all'),
  staged: git('diff', '--cached'),
});

describe('a checkout that goes back', () => {
  it('has its checkpoints listed by the mirror until each is dropped, and an unknown project has none', async () => {
    const row = await node.store.read.selectFrom('checkout').select('project_id').executeTakeFirstOrThrow();
    const project = String(row.project_id);
    const [one, other] = [await checkpoint(), await checkpoint()];
    const listed = await node.workspace.checkpoints(project);
    expect(listed.map(({ ref, sha }) => [ref.startsWith('refs/orrery/checkpoints/ses_a/c'), sha])).toEqual([
      [true, one.sha],
      [true, other.sha],
    ]);
    await node.workspace.dropCheckpoint(project, listed[0]!);
    expect(await node.workspace.checkpoints(project)).toEqual([listed[1]]);
    expect(await node.workspace.checkpoints('prj_nowhere')).toEqual([]);
  });

  it('has its commits, branch, index, files, modes and links again; what was there is saved', async () => {
    writeFiles(checkout.path, { 'staged.txt': 'staged\n', 'untracked.txt': 'untracked\n', 'run.sh': '#!/bin/sh\n' });
    chmodSync(at('run.sh'), 0o755);
    symlinkSync('kept.txt', at('link'));
    git('add', 'staged.txt');
    writeFileSync(at('staged.txt'), 'changed after it was staged\n');
    rmSync(at('folder/in.txt'));
    const before = state();
    const point = await checkpoint();
    expect(state()).toEqual(before);
    git('checkout', '-q', '-b', 'other');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'later');
    writeFiles(checkout.path, { 'later.txt': 'later\n', 'kept.txt': 'overwritten\n', 'notes.log': 'ignored\n' });
    const later = git('rev-parse', 'HEAD');
    expect(await restore(point)).toEqual([]);
    expect(state()).toEqual(before);
    expect([existsSync(at('later.txt')), existsSync(at('folder/in.txt'))]).toEqual([false, false]);
    expect([statSync(at('run.sh')).mode & 0o111, readlinkSync(at('link'))]).toEqual([0o111, 'kept.txt']);
    expect(readFileSync(at('kept.txt'), 'utf8')).toBe('kept\n');
    expect(readFileSync(at('notes.log'), 'utf8')).toBe('ignored\n');
    const mirror = node.workspace.mirrorOf(checkout.projectId ?? '');
    expect(saved.length).toBeGreaterThan(0);
    expect(gitIn(mirror, 'show', `${saved[0] ?? ''}:later.txt`)).toContain('later');
    expect(gitIn(mirror, 'merge-base', '--is-ancestor', later, saved[0] ?? '')).toBe('');
    // Done again, as after a crash, it comes to the same.
    await restore(point);
    expect(state()).toEqual(before);
  });

  it('has another one beside it with the same files, commits and index; what was staged and then changed has to be staged again', async () => {
    writeFiles(checkout.path, { 'new.txt': 'new\n', 'staged.txt': 'staged\n', 'untracked.txt': 'untracked\n' });
    git('add', 'new.txt');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'its own');
    git('add', 'staged.txt');
    writeFileSync(at('kept.txt'), 'changed\n');
    const before = state();
    const point = await checkpoint();
    writeFileSync(at('staged.txt'), 'staged, and in no commit\n');
    git('add', 'staged.txt');
    writeFileSync(at('staged.txt'), 'changed after it was staged\n');
    const again = await checkpoint();
    const other = await node.workspace.claim({
      projectId: checkout.projectId ?? '',
      taskId: 'env_b',
      baseSha: checkout.baseSha ?? '',
    });
    checkout = other;
    // Twice, as after a crash.
    for (let round = 0; round < 2; round++) expect(await restore({ ...point, branch: 'refs/heads/orrery/env_b' })).toEqual([]);
    expect(state()).toEqual({ ...before, branch: 'refs/heads/orrery/env_b' });
    expect(git('log', '-1', '--format=%s')).toBe('its own');
    expect(git('fsck', '--connectivity-only')).not.toContain('missing');
    await restore({ ...again, branch: 'refs/heads/orrery/env_b' });
    expect(readFileSync(at('staged.txt'), 'utf8')).toBe('changed after it was staged\n');
    expect(() => git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'broken')).toThrow();
    git('add', 'staged.txt');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'mended');
  });

  it('writes over no ignored file: it is refused, and nothing is changed', async () => {
    writeFiles(checkout.path, { 'build/out.txt': 'tracked\n' });
    const point = await checkpoint();
    rmSync(at('build'), { recursive: true });
    writeFileSync(at('build'), 'mine');
    writeFiles(checkout.path, { '.gitignore': '*.log\nbuild\n' });
    await expect(restore(point)).rejects.toMatchObject({ code: 'conflict' });
    expect([readFileSync(at('build'), 'utf8'), saved]).toEqual(['mine', []]);
  });

  it('follows no link that an agent put into its .git', async () => {
    const outside = join(node.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'HEAD'), 'untouched');
    const point = await checkpoint();
    rmSync(at('.git/HEAD'));
    symlinkSync(join(outside, 'HEAD'), at('.git/HEAD'));
    rmSync(at('.git/refs'), { recursive: true });
    symlinkSync(outside, at('.git/refs'));
    const notes = await restore(point);
    expect(readFileSync(join(outside, 'HEAD'), 'utf8')).toBe('untouched');
    expect(existsSync(join(outside, 'heads'))).toBe(false);
    expect(notes.join(' ')).toContain('cannot be written');
  });
});
