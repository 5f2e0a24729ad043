import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, gitTricks, plainRepository, trickWorked, writeFiles, type GitTrickName } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

beforeEach(async () => {
  node = await openGitNode();
  root = plainRepository(node.folder).root;
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId = 'tsk_a'): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha });
const mirror = (): string => node.workspace.mirrorOf(projectId);
const show = (sha: string, path: string): string => gitIn(mirror(), 'show', `${sha}:${path}`);
const names = (sha: string): string[] =>
  gitIn(mirror(), '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', sha).split('\n');

describe('a planted trick never runs as the node, and the work is collected', () => {
  it.each(Object.keys(gitTricks) as GitTrickName[])('%s', async (name) => {
    const marker = join(node.folder, 'marker');
    const checkout = await claim();
    writeFiles(checkout.path, { 'src/main.txt': 'committed\n' });
    commitAll(checkout.path, 'the agent’s commit');
    gitTricks[name](checkout.path, marker);
    writeFiles(checkout.path, { 'src/main.txt': 'changed again\n', 'new.txt': 'new\n' });
    rmSync(marker, { force: true });

    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    const diff = await node.results.diff({ taskId: 'tsk_a', projectId, baseSha, headSha: collected.headSha });
    expect(show(collected.headSha, 'src/main.txt')).toBe('changed again');
    expect(show(collected.headSha, 'new.txt')).toBe('new');
    expect(diff.files.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/main.txt', 'new.txt']));
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
    const next = await claim('tsk_b');
    expect(gitIn(next.path, 'status', '--porcelain', '--ignored')).toBe('');
    expect(trickWorked(marker)).toBe(false);
  });

  it('folders in folders beyond the longest path cost no other work', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'new.txt': 'new\n' });
    const chain = 'd'.repeat(200);
    const deeper = `i=0; while [ $i -lt 40 ]; do mkdir ${chain} && cd -P ${chain} || exit 1; i=$((i+1)); done`;
    execFileSync('sh', ['-c', deeper], { cwd: checkout.path });
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(show(collected.headSha, 'new.txt')).toBe('new');
    expect(collected.notes.join('\n')).toMatch(/beyond the longest path, left out/);
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
    expect(gitIn((await claim('tsk_b')).path, 'status', '--porcelain', '--ignored')).toBe('');
  });

  it('many repositories inside are read one after the other, their files taken', async () => {
    const checkout = await claim();
    for (let at = 0; at < 100; at++)
      writeFiles(checkout.path, {
        [`n${at}/.git/HEAD`]: 'ref: refs/heads/x\n',
        [`n${at}/.git/objects/x`]: '',
        [`n${at}/.git/refs/x`]: '',
        [`n${at}/file`]: 'x',
      });
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(names(collected.headSha).filter((name) => /^n\d+\/file$/.test(name))).toHaveLength(100);
  });

  it('control: the same trick does run when Git is asked in the agent’s own directory', async () => {
    const marker = join(node.folder, 'marker');
    const checkout = await claim();
    gitTricks.fsmonitor(checkout.path, marker);
    gitIn(checkout.path, 'status');
    expect(trickWorked(marker)).toBe(true);
  });
});

/** What an agent may leave, and what is still to be had: `head` whether its commits are, always its files. */
const wrecks: Record<
  string,
  { wreck: (checkout: Checkout, folder: string) => void; commits: boolean; note: RegExp | null; recovered?: boolean }
> = {
  'deletes its .git': {
    wreck: ({ path }) => rmSync(join(path, '.git'), { recursive: true }),
    commits: false,
    note: /its \.git is gone/,
  },
  'makes its .git a link to another repository': {
    wreck: ({ path }, folder) => {
      rmSync(join(path, '.git'), { recursive: true });
      symlinkSync(join(plainRepository(folder, { name: 'elsewhere' }).root, '.git'), join(path, '.git'));
    },
    commits: false,
    note: /no longer a folder/,
  },
  'makes its .git a file that names another directory': {
    wreck: ({ path }) => {
      renameSync(join(path, '.git'), join(path, '..', 'moved.git'));
      writeFileSync(join(path, '.git'), `gitdir: ${join(path, '..', 'moved.git')}\n`);
    },
    commits: false,
    note: /no longer a folder/,
  },
  'overwrites HEAD with garbage': {
    wreck: ({ path }) => writeFileSync(join(path, '.git/HEAD'), 'garbage \u0000'),
    commits: false,
    note: /HEAD names no commit/,
  },
  'makes HEAD a FIFO': {
    wreck: ({ path }) => {
      unlinkSync(join(path, '.git/HEAD'));
      execFileSync('mkfifo', [join(path, '.git/HEAD')]);
    },
    commits: false,
    note: /HEAD names no commit/,
  },
  'makes HEAD name a path outside': {
    wreck: ({ path }) => writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/../../../../etc/passwd\n'),
    commits: false,
    note: /HEAD names no commit/,
  },
  'makes refs/heads a link': {
    wreck: ({ path }, folder) => {
      renameSync(join(path, '.git/refs/heads'), join(folder, 'heads'));
      symlinkSync(join(folder, 'heads'), join(path, '.git/refs/heads'));
    },
    commits: false,
    note: /HEAD names no commit/,
  },
  'deletes its objects': {
    wreck: ({ path }) => rmSync(join(path, '.git/objects'), { recursive: true }),
    commits: false,
    note: /commits cannot be read/,
  },
  'makes its objects a link': {
    wreck: ({ path }, folder) => {
      renameSync(join(path, '.git/objects'), join(folder, 'objects'));
      symlinkSync(join(folder, 'objects'), join(path, '.git/objects'));
    },
    commits: false,
    note: /commits cannot be read/,
  },
  'damages an object': {
    wreck: ({ path }) => {
      const sha = gitIn(path, 'rev-parse', 'HEAD^{tree}');
      const file = join(path, '.git/objects', sha.slice(0, 2), sha.slice(2));
      chmodSync(file, 0o600);
      writeFileSync(file, 'damaged');
    },
    commits: false,
    note: /commits could not be taken/,
  },
  'puts another object in the place of one': {
    wreck: ({ path }) => {
      const other = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: path, input: 'other contents\n' })
        .toString()
        .trim();
      const blob = gitIn(path, 'rev-parse', 'HEAD:src/main.txt');
      const file = (sha: string): string => join(path, '.git/objects', sha.slice(0, 2), sha.slice(2));
      chmodSync(file(blob), 0o600);
      writeFileSync(file(blob), readFileSync(file(other)));
    },
    commits: false,
    note: /commits could not be taken/,
    // Once the file was collected its true object is in the mirror, and the commits are whole again.
    recovered: true,
  },
  'makes an object a FIFO': {
    wreck: ({ path }) => {
      const sha = gitIn(path, 'rev-parse', 'HEAD^{tree}');
      const file = join(path, '.git/objects', sha.slice(0, 2), sha.slice(2));
      unlinkSync(file);
      execFileSync('mkfifo', [file]);
    },
    commits: false,
    note: /commits could not be taken/,
  },
  'writes a packed-refs of 20 MB': {
    wreck: ({ path }) => writeFileSync(join(path, '.git/packed-refs'), `${'a'.repeat(40)} refs/heads/x\n`.repeat(400_000)),
    commits: true,
    note: /packed-refs is no plain file of a sane size/,
  },
  'flips core.bare': {
    wreck: ({ path }) => gitIn(path, 'config', 'core.bare', 'true'),
    commits: true,
    note: /configuration in its \.git was changed/,
  },
  'sets core.worktree': {
    wreck: ({ path }) => gitIn(path, 'config', 'core.worktree', '/etc'),
    commits: true,
    note: /configuration in its \.git was changed/,
  },
  'deletes its index': { wreck: ({ path }) => unlinkSync(join(path, '.git/index')), commits: true, note: null },
  'leaves a lock': { wreck: ({ path }) => writeFileSync(join(path, '.git/index.lock'), ''), commits: true, note: null },
  'packs its refs and objects': {
    wreck: ({ path }) => void [gitIn(path, 'pack-refs', '--all'), gitIn(path, 'repack', '-adlq')],
    commits: true,
    note: null,
  },
  'detaches HEAD': {
    wreck: ({ path }) => gitIn(path, 'checkout', '-q', '--detach'),
    commits: true,
    note: /HEAD was left detached/,
  },
  'switches to a branch of its own': {
    wreck: ({ path }) => gitIn(path, 'checkout', '-q', '-b', 'my/own'),
    commits: true,
    note: null,
  },
  'makes HEAD symbolic twice': {
    wreck: ({ path }) => {
      gitIn(path, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/orrery/tsk_a');
      writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/alias\n');
    },
    commits: true,
    note: null,
  },
};

describe('an agent that', () => {
  it.each(Object.entries(wrecks))(
    '%s loses no file, and the slot is clean for the next',
    async (_, { wreck, commits, note, recovered = false }) => {
      const checkout = await claim();
      writeFiles(checkout.path, { 'src/main.txt': 'committed\n', 'added.txt': 'added\n' });
      const agentSha = commitAll(checkout.path, 'the agent’s commit');
      writeFiles(checkout.path, { 'loose.txt': 'not committed\n' });
      wreck(checkout, node.folder);

      const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
      expect({
        commits: collected.commits,
        files: collected.files.map(({ path, status }) => `${status} ${path}`),
        uncommitted: collected.uncommitted,
      }).toEqual({
        commits: commits ? 2 : 1,
        files: ['added added.txt', 'added loose.txt', 'modified src/main.txt'],
        uncommitted: true,
      });
      if (commits) expect(gitIn(mirror(), 'rev-parse', `${collected.headSha}^`)).toBe(agentSha);
      if (note === null) expect(collected.notes).toEqual([]);
      else expect(collected.notes.join('\n')).toMatch(note);
      expect(gitIn(mirror(), 'fsck', '--strict', '--no-dangling')).toBe('');

      expect((await node.workspace.release(checkout.id, { salvage: recovered, reason: 'test' })).length).toBe(recovered ? 1 : 0);
      await node.workspace.settled();
      const next = await claim('tsk_b');
      expect({
        warm: next.warm,
        status: gitIn(next.path, 'status', '--porcelain', '--ignored'),
        log: gitIn(next.path, 'log', '--format=%H'),
      }).toEqual({ warm: true, status: '', log: baseSha });
    },
  );

  it('leaves a rebase half done keeps both its ends', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'src/main.txt': 'branch\n' });
    const tip = commitAll(checkout.path, 'branch');
    gitIn(checkout.path, 'checkout', '-q', '-b', 'onto', baseSha);
    writeFiles(checkout.path, { 'src/main.txt': 'onto\n' });
    const onto = commitAll(checkout.path, 'onto');
    expect(() => gitIn(checkout.path, 'rebase', 'onto', 'orrery/tsk_a')).toThrow();
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(collected.notes).toEqual(expect.arrayContaining(['a rebase was left unfinished', 'HEAD was left detached']));
    const kept = gitIn(mirror(), 'for-each-ref', '--format=%(objectname)', 'refs/orrery/kept/').split('\n');
    expect(kept).toContain(tip);
    expect(gitIn(mirror(), 'merge-base', onto, collected.headSha)).toBe(onto);
    expect(show(collected.headSha, 'src/main.txt')).toContain('<<<<<<<');
  });

  it('points its alternates at another project gets nothing of it', async () => {
    const secret = plainRepository(node.folder, { name: 'secret' });
    writeFiles(secret.root, { 'secret.txt': 'the other project’s secret\n' });
    commitAll(secret.root, 'secret');
    const other = await node.projects.add({ source: secret.root });
    const blob = gitIn(secret.root, 'rev-parse', 'HEAD:secret.txt');
    const checkout = await claim();
    writeFileSync(
      join(checkout.path, '.git/objects/info/alternates'),
      `${join(mirror(), 'objects')}\n${join(node.workspace.mirrorOf(other.id), 'objects')}\n`,
    );
    gitIn(checkout.path, 'update-index', '--add', '--cacheinfo', `100644,${blob},stolen.txt`);
    gitIn(checkout.path, 'commit', '-q', '-m', 'stolen');
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(collected.notes.join('\n')).toMatch(/commits could not be taken/);
    expect(collected.headSha).toBe(baseSha);
    expect(() => gitIn(mirror(), 'cat-file', '-e', blob)).toThrow();
  });

  it('links to files outside, by symbolic and hard links, brings nothing of them in and shares nothing with the next', async () => {
    const outside = join(node.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret.txt'), 'secret\n');
    const checkout = await claim();
    rmSync(join(checkout.path, 'src'), { recursive: true });
    symlinkSync(outside, join(checkout.path, 'src'));
    execFileSync('ln', [join(checkout.path, 'README.md'), join(outside, 'shared')]);
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(collected.files.map(({ path, status }) => `${status} ${path}`)).toEqual(['added src', 'deleted src/main.txt']);
    expect(show(collected.headSha, 'src')).toBe(outside);
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    const next = await claim('tsk_b');
    writeFileSync(join(outside, 'shared'), 'written through the link\n');
    expect(readFileSync(join(next.path, 'README.md'), 'utf8')).toBe('# plain\n');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });

  it('leaves odd names, modes, FIFOs and repositories inside: what Git stores is taken, the rest is named and moved aside', async () => {
    const checkout = await claim();
    const odd = ['new\nline.txt', 'tab\t.txt', ' leading', '-dash', 'ünï', '"quoted"', 'back\\slash', ':(glob)*', '*'];
    for (const name of odd) writeFileSync(join(checkout.path, name), 'x');
    writeFileSync(Buffer.concat([Buffer.from(`${checkout.path}/bytes-`), Buffer.from([0xff, 0xfe])]), 'x');
    writeFiles(checkout.path, {
      'forbidden/inside.txt': 'inside\n',
      'unreadable.txt': 'unreadable\n',
      'git~1/x': 'x',
      'deep/.GIT/x': 'x',
      'build/out.bin': 'ignored\n',
      'debug.log': 'ignored\n',
    });
    chmodSync(join(checkout.path, 'unreadable.txt'), 0o000);
    chmodSync(join(checkout.path, 'forbidden'), 0o000);
    chmodSync(join(checkout.path, 'README.md'), 0o4755);
    execFileSync('mkfifo', [
      join(checkout.path, 'pipe'),
      join(checkout.path, 'src/.gitignore'),
      join(checkout.path, 'src/.gitattributes'),
    ]);
    gitTricks.nestedRepository(checkout.path, join(node.folder, 'marker'));
    execFileSync('mkfifo', [join(checkout.path, 'nested/.git/FIFO')]);

    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    const found = gitIn(mirror(), 'ls-tree', '-r', '-z', '--name-only', collected.headSha).split('\0');
    expect(found).toEqual(expect.arrayContaining([...odd, 'forbidden/inside.txt', 'unreadable.txt', 'nested/inner.txt']));
    expect(found.filter((path) => path.startsWith('bytes-')).length).toBe(1);
    expect(gitIn(mirror(), 'ls-tree', collected.headSha, 'README.md')).toMatch(/^100755 /);
    expect(collected.notes.join('\n')).toMatch(/pipe.*left out/);
    expect(collected.notes.join('\n')).toMatch(/git~1\/x.*a name that Git does not store/);
    expect(collected.notes.join('\n')).toMatch(/nested: a repository inside the checkout/);
    expect(await node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).toEqual([]);
    await node.workspace.settled();
    const [aside] = await node.workspace.aside();
    expect(
      ['build/out.bin', 'debug.log', 'git~1/x', 'deep/.GIT/x', 'nested/.git/HEAD'].filter(
        (path) => !existsSync(join(aside?.path ?? '', path)),
      ),
    ).toEqual([]);
    const next = await claim('tsk_b');
    expect({ warm: next.warm, status: gitIn(next.path, 'status', '--porcelain', '--ignored') }).toEqual({
      warm: true,
      status: '',
    });
  });

  it('commits files that are ignored, and links to repositories, has them in its result as committed', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'build/kept.txt': 'kept\n' });
    gitIn(checkout.path, 'add', '-f', 'build/kept.txt');
    gitIn(checkout.path, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor`);
    gitIn(checkout.path, 'commit', '-q', '-m', 'ignored and linked');
    const sha = gitIn(checkout.path, 'rev-parse', 'HEAD');
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect({ head: collected.headSha, uncommitted: collected.uncommitted }).toEqual({ head: sha, uncommitted: false });
    expect(names(sha)).toContain('build/kept.txt');
  });
});
