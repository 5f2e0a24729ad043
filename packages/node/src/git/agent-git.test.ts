import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAgentGit, readPlain } from './agent-git.ts';

const a = 'a'.repeat(40);
const b = 'b'.repeat(40);
const c = 'c'.repeat(40);
let tree = '';

beforeEach(() => (tree = mkdtempSync(join(tmpdir(), 'orrery-agent-'))));
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const put = (files: Record<string, string>): void => {
  for (const [path, contents] of Object.entries({ 'objects/info/keep': '', ...files })) {
    mkdirSync(dirname(join(tree, '.git', path)), { recursive: true });
    writeFileSync(join(tree, '.git', path), contents);
  }
};

describe('an agent’s Git directory', () => {
  it('gives HEAD, branches, stash entries and where a rebase began', async () => {
    put({
      HEAD: 'ref: refs/heads/work/x\n',
      'refs/heads/work/x': `${a}\n`,
      'refs/stash': `${b}\n`,
      'logs/refs/stash': `${'0'.repeat(40)} ${c} Ada <a@b> 1 +0000\tone\n${c} ${b} Ada <a@b> 2 +0000\ttwo\n`,
      'packed-refs': `# pack-refs with: peeled\n${b} refs/heads/packed\n${c} refs/tags/v1\n^${a}\n${b} refs/heads/work/x\n`,
      'rebase-merge/orig-head': `${c}\n`,
      config: '[core]\n',
    });
    expect(await readAgentGit(tree)).toEqual({
      headSha: a,
      branch: 'refs/heads/work/x',
      tips: [
        { ref: 'refs/heads/packed', sha: b },
        { ref: 'refs/heads/work/x', sha: a },
        { ref: 'refs/stash', sha: b },
        { ref: 'refs/stash', sha: c },
        { ref: 'ORIG_HEAD', sha: c },
      ],
      inProgress: ['a rebase'],
      config: '[core]\n',
      objectsUsable: true,
      problems: [],
    });
  });

  it('that is unborn, detached, cyclic or garbage says what it is and no more', async () => {
    put({ HEAD: 'ref: refs/heads/none\n' });
    expect(await readAgentGit(tree)).toMatchObject({ headSha: null, problems: ['its HEAD names no commit'] });
    put({ HEAD: `${a}\n` });
    expect(await readAgentGit(tree)).toMatchObject({ headSha: a, branch: null, problems: [] });
    put({ HEAD: 'ref: refs/heads/one\n', 'refs/heads/one': 'ref: refs/heads/two\n', 'refs/heads/two': 'ref: refs/heads/one\n' });
    expect(await readAgentGit(tree)).toMatchObject({ headSha: null, tips: [] });
    put({ HEAD: `ref: refs/heads/../../config\n`, config: `${a}\n` });
    expect(await readAgentGit(tree)).toMatchObject({ headSha: null, branch: null });
  });

  it.each(['.git', 'objects'])('whose %s is a link is not followed', async (name) => {
    const elsewhere = join(tree, 'elsewhere');
    mkdirSync(join(elsewhere, 'objects'), { recursive: true });
    writeFileSync(join(elsewhere, 'HEAD'), `${a}\n`);
    if (name === '.git') symlinkSync(elsewhere, join(tree, '.git'));
    else {
      mkdirSync(join(tree, '.git'));
      symlinkSync(join(elsewhere, 'objects'), join(tree, '.git/objects'));
    }
    expect(await readAgentGit(tree)).toMatchObject({ headSha: null, objectsUsable: false });
  });
});

describe('a file of it', () => {
  it('is read only when it is a plain file of a sane size, reached through plain folders', () => {
    put({ 'refs/heads/plain': 'plain', 'refs/heads/large': 'x'.repeat(101) });
    const root = join(tree, '.git');
    symlinkSync('/etc/passwd', join(root, 'refs/heads/link'));
    symlinkSync('/etc', join(root, 'refs/etc'));
    execFileSync('mkfifo', [join(root, 'refs/heads/fifo')]);
    const read = (path: string): string | null => readPlain(root, path, 100);
    expect(
      [
        'refs/heads/plain',
        'refs/heads/large',
        'refs/heads/link',
        'refs/etc/passwd',
        'refs/heads/fifo',
        'refs/heads',
        'refs/heads/none',
      ].map(read),
    ).toEqual(['plain', null, null, null, null, null, null]);
  });
});
