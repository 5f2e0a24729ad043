import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sourceStamp } from './source-stamp.ts';

const root = mkdtempSync(join(tmpdir(), 'orrery-stamp-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const git = (folder: string, ...args: string[]): void =>
  void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder, stdio: 'ignore' });

describe('the stamp of a source', () => {
  it('changes with each kind of change of its refs, and with nothing else', async () => {
    const folder = join(root, 'one');
    git(root, 'init', '-q', '-b', 'main', folder);
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'one');
    const changes: readonly (readonly string[])[] = [
      ['commit', '-q', '--allow-empty', '-m', 'two'],
      ['branch', 'a/b'],
      ['tag', 'v1'],
      ['checkout', '-q', 'a/b'],
      ['pack-refs', '--all'],
      ['branch', '-D', 'main'],
      ['checkout', '-q', '--detach'],
    ];
    const seen = [await sourceStamp(folder)];
    expect(await sourceStamp(folder)).toBe(seen[0]);
    for (const change of changes) {
      git(folder, ...change);
      seen.push(await sourceStamp(folder));
    }
    git(folder, 'status');
    expect(await sourceStamp(folder)).toBe(seen.at(-1));
    expect(seen).not.toContain(null);
    expect(new Set(seen).size).toBe(changes.length + 1);
  });

  it('is not told for a linked worktree or a folder without a repository', async () => {
    const folder = join(root, 'two');
    git(root, 'init', '-q', '-b', 'main', folder);
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'one');
    git(folder, 'worktree', 'add', '-q', join(root, 'linked'));
    expect([await sourceStamp(join(root, 'linked')), await sourceStamp(root)]).toEqual([null, null]);
  });
});
