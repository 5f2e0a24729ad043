import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { COPIED_FILE_BYTES } from '../kernel/limits.ts';
import type { Checkout } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

const secret = 'TOKEN=canary-of-the-user\n';

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  root = plainRepository(node.folder).root;
  writeFiles(root, { '.gitignore': '.env*\n*.local.json\ncerts/\n/private\n*.log\n', 'kept/tracked.txt': 'tracked\n' });
  commitAll(root, 'what is ignored');
  writeFiles(root, {
    '.env': secret,
    'config/a.local.json': '{"a":1}',
    'config/b.local.json': '{"b":1}',
    'certs/dev/key.pem': 'key',
  });
  chmodSync(join(root, '.env'), 0o640);
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId = 'tsk_a'): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha });
const bring = async (...patterns: string[]) => {
  const checkout = await claim();
  return { checkout, ...(await node.workspace.bringFiles(checkout.id, patterns)) };
};
const mirror = (): string => node.workspace.mirrorOf(projectId);

/** Whether anything that the mirror holds, reachable or not, has the text in it. */
const mirrorHolds = (text: string): boolean =>
  gitIn(mirror(), 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)')
    .split('\n')
    .filter((line) => line.startsWith('blob '))
    .some((line) => gitIn(mirror(), 'cat-file', 'blob', line.slice(5)).includes(text));

describe('copied files', () => {
  it('are brought with their modes, by name, pattern and folder; the checkout is clean', async () => {
    const { checkout, files, notes } = await bring('.env', 'config/*.local.json', 'certs');
    const read = (path: string): string => readFileSync(join(checkout.path, path), 'utf8');
    expect({ files, notes }).toEqual({ files: 4, notes: [] });
    expect(['.env', 'config/a.local.json', 'config/b.local.json', 'certs/dev/key.pem'].map(read)).toEqual([
      secret,
      '{"a":1}',
      '{"b":1}',
      'key',
    ]);
    expect(statSync(join(checkout.path, '.env')).mode & 0o777).toBe(0o640);
    expect(gitIn(checkout.path, 'status', '--porcelain')).toBe('');
    await node.workspace.bringFiles(checkout.id, ['.env']);
    expect(gitIn(checkout.path, 'status', '--porcelain')).toBe('');
  });

  it('that only the user ignores leave the checkout clean, too', async () => {
    writeFileSync(join(root, '.git/info/exclude'), 'mine #!x.txt\n');
    writeFiles(root, { 'mine #!x.txt': 'mine' });
    const { checkout, notes } = await bring('mine #!x.txt');
    expect({ notes, status: gitIn(checkout.path, 'status', '--porcelain') }).toEqual({ notes: [], status: '' });
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(collected.files).toEqual([]);
  });

  const refused: Record<string, { make?: () => void; pattern: string; note: RegExp }> = {
    'a missing one': { pattern: '.env.missing', note: /^\.env\.missing is not there, and was not copied$/ },
    'a tracked one': { pattern: 'kept/tracked.txt', note: /only files that Git ignores/ },
    'an untracked one that is not ignored': {
      make: () => writeFiles(root, { 'new.txt': 'new' }),
      pattern: 'new.txt',
      note: /only files that Git ignores/,
    },
    'a link out of the folder': {
      make: () => {
        writeFileSync(join(node.folder, 'outside'), secret);
        symlinkSync(join(node.folder, 'outside'), join(root, '.env.link'));
      },
      pattern: '.env.link',
      note: /it is a link/,
    },
    'one behind a linked folder': {
      make: () => {
        mkdirSync(join(node.folder, 'elsewhere'));
        writeFileSync(join(node.folder, 'elsewhere/.env'), secret);
        symlinkSync(join(node.folder, 'elsewhere'), join(root, 'private'));
      },
      pattern: 'private/.env',
      note: /reached through one/,
    },
    "Git's own": { pattern: '.git/config', note: /nothing of a folder \.git is copied/ },
    'a key': {
      make: () => writeFiles(root, { 'private/.ssh/id': secret }),
      pattern: 'private/.ssh/id',
      note: /nothing of a folder \.ssh/,
    },
    'one of a repository inside': {
      make: () => {
        writeFiles(root, { 'private/.env': secret });
        gitIn(join(root, 'private'), 'init', '-q');
      },
      pattern: 'private/.env',
      note: /a repository of its own/,
    },
    'a folder that is a link in the checkout': {
      make: () => {
        rmSync(join(root, 'certs'), { recursive: true });
        symlinkSync('/tmp', join(root, 'certs'));
        gitIn(root, 'add', '-f', 'certs');
        commitAll(root, 'a link');
        baseSha = gitIn(root, 'rev-parse', 'HEAD');
        gitIn(root, 'rm', '-q', '--cached', 'certs');
        rmSync(join(root, 'certs'));
        writeFiles(root, { 'certs/orrery-never.pem': secret });
      },
      pattern: 'certs/orrery-never.pem',
      note: /what is a folder and what is a file differs/,
    },
  };

  it.each(Object.entries(refused))('%s is left out and said, and the others come', async (_, { make, pattern, note }) => {
    make?.();
    await node.projects.refresh(projectId);
    const { checkout, files, notes } = await bring(pattern, '.env');
    expect({ files, notes }).toEqual({ files: 1, notes: [expect.stringMatching(note)] });
    expect(existsSync(join(checkout.path, '.env'))).toBe(true);
    expect(existsSync('/tmp/orrery-never.pem')).toBe(false);
  });

  it('beyond the limit are refused by its name, and nothing of them is told', async () => {
    truncateSync(join(root, '.env'), COPIED_FILE_BYTES + 1);
    await expect(bring('.env')).rejects.toMatchObject({
      code: 'input_too_large',
      message: expect.stringContaining('.env, which is'),
    });
  });

  it('of a project without a folder are said to be none', async () => {
    const far = await node.projects.add({ source: `file://${root}` });
    const checkout = await node.workspace.claim({ projectId: far.id, taskId: 'tsk_far', baseSha });
    expect(await node.workspace.bringFiles(checkout.id, ['.env'])).toEqual({
      files: 0,
      notes: [expect.stringContaining('no folder on this machine')],
    });
  });

  const leaks: Record<string, (path: string) => void> = {
    'un-ignored by the agent': (path) => writeFiles(path, { '.gitignore': '', 'work.txt': 'work\n' }),
    'committed by force': (path) => {
      writeFiles(path, { 'work.txt': 'work\n' });
      gitIn(path, 'add', '-f', '.env', 'work.txt');
      gitIn(path, 'commit', '-q', '-m', 'all of it');
      writeFiles(path, { 'more.txt': 'more\n' });
      commitAll(path, 'and more');
    },
    'committed, and removed again': (path) => {
      gitIn(path, 'add', '-f', '.env');
      gitIn(path, 'commit', '-q', '-m', 'with it');
      gitIn(path, 'rm', '-q', '--cached', '.env');
      writeFiles(path, { 'work.txt': 'work\n' });
      commitAll(path, 'without it');
    },
    'changed and committed by force': (path) => {
      writeFiles(path, { '.env': `${secret}MORE=1\n`, 'work.txt': 'work\n' });
      gitIn(path, 'add', '-f', '.env', 'work.txt');
      gitIn(path, 'commit', '-q', '-m', 'changed');
    },
    'on another branch, merged': (path) => {
      gitIn(path, 'checkout', '-q', '-b', 'side');
      gitIn(path, 'add', '-f', '.env');
      gitIn(path, 'commit', '-q', '-m', 'side');
      gitIn(path, 'checkout', '-q', 'orrery/tsk_a');
      writeFiles(path, { 'work.txt': 'work\n' });
      commitAll(path, 'main line');
      gitIn(path, 'merge', '-q', '--no-edit', 'side');
    },
    'stashed with everything': (path) => {
      writeFiles(path, { 'src/main.txt': 'stashed\n' });
      gitIn(path, 'stash', 'push', '-q', '--all');
      writeFiles(path, { 'work.txt': 'work\n' });
    },
    'made a folder': (path) => {
      renameSync(join(path, '.env'), join(path, 'gone.log'));
      writeFiles(path, { '.env/inside': secret, 'work.txt': 'work\n' });
      gitIn(path, 'add', '-f', '.env/inside', 'work.txt');
      gitIn(path, 'commit', '-q', '-m', 'a folder');
    },
  };

  it.each(Object.entries(leaks))('%s never come back: not in the result, nor in salvage, nor in the mirror', async (_, leak) => {
    const { checkout } = await bring('.env');
    leak(checkout.path);
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    const work = ['.gitignore', 'more.txt', 'work.txt'];
    expect(collected.files.map(({ path }) => path).filter((path) => !work.includes(path))).toEqual([]);
    expect(collected.files.some(({ path }) => path === 'work.txt')).toBe(true);
    expect(collected.headSha).toBe(gitIn(mirror(), 'rev-parse', collected.resultRef));
    await node.workspace.salvage(checkout.id, 'test');
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
    expect(mirrorHolds('canary-of-the-user')).toBe(false);
    expect(gitIn(mirror(), 'fsck', '--no-dangling')).toBe('');
  });

  it('that were not changed are gone with the checkout; a changed one is kept aside as any ignored file', async () => {
    const { checkout } = await bring('.env', 'config/*.local.json');
    writeFiles(checkout.path, { 'config/a.local.json': '{"a":2}' });
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    const [aside, ...more] = await node.workspace.aside();
    expect({ more, names: readdirSync(aside?.path ?? '', { recursive: true }) }).toEqual({
      more: [],
      names: ['config', 'config/a.local.json'],
    });
    const next = await claim('tsk_b');
    expect({ warm: next.warm, env: existsSync(join(next.path, '.env')) }).toEqual({ warm: true, env: false });
    writeFiles(next.path, { '.env': 'the agent’s own\n', '.gitignore': '' });
    const own = await node.workspace.collect(next.id, { attempt: 1 });
    expect(own.files.map(({ path }) => path)).toEqual(['.env', '.gitignore']);
  });

  it('count as copied in a copy of the checkout', async () => {
    const { checkout } = await bring('.env');
    const fork = await claim('tsk_fork');
    await node.workspace.likeFiles(fork.id, checkout.id);
    writeFiles(fork.path, { '.env': secret, '.gitignore': '' });
    expect((await node.workspace.collect(fork.id, { attempt: 1 })).files.map(({ path }) => path)).toEqual(['.gitignore']);
  });
});
