import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout } from './index.ts';

let node: GitNode;
let checkout: Checkout;

const claim = async (files: Record<string, string> = {}): Promise<void> => {
  const { root } = plainRepository(node.folder);
  writeFiles(root, files);
  const baseSha = Object.keys(files).length === 0 ? gitIn(root, 'rev-parse', 'HEAD') : commitAll(root, 'more');
  const project = await node.projects.add({ source: root });
  checkout = await node.workspace.claim({ projectId: project.id, taskId: 'tsk_a', baseSha });
};
beforeEach(async () => {
  node = await openGitNode();
});
afterEach(() => node.close());

const filesOf = (sha: string): string[] =>
  gitIn(node.workspace.mirrorOf(checkout.projectId ?? ''), 'ls-tree', '-r', '--name-only', sha).split('\n');

const module = (lines: string): string => `[submodule "a"]\n\tpath = a\n\turl = https://example.test/a\n${lines}`;

const hostile: readonly (readonly [string, string])[] = [
  ['an option as URL', module('\turl = --upload-pack=touch /tmp/x\n')],
  ['an option as path', module('\tpath = --help\n')],
  ['a command to update by', module('\tupdate = !touch /tmp/x\n')],
  ['a name that leads out', '[submodule "../../a"]\n\tpath = a\n\turl = https://example.test/a\n'],
  ['a URL with a line break', module('\turl = "https://example.test/\\na"\n')],
];

describe('a file that was not committed and that Git reads by its name', () => {
  it.each(hostile)('.gitmodules with %s is left out and said, as in a commit, and the rest is taken', async (_, text) => {
    await claim();
    writeFiles(checkout.path, { '.gitmodules': text, 'work.txt': 'work\n' });
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(collected.notes).toEqual([
      expect.stringMatching(/^\.gitmodules: left out, as Git would refuse it in a commit \(gitmodules\w+: .+\)$/),
    ]);
    expect(filesOf(collected.headSha)).toContain('work.txt');
    expect(filesOf(collected.headSha)).not.toContain('.gitmodules');
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
    const [aside] = await node.workspace.aside();
    expect(readdirSync(aside?.path ?? '', { recursive: true }).map(String)).toContainEqual(
      expect.stringMatching(/\.gitmodules$/),
    );

    const { headSha } = await commitAlike(text);
    expect(headSha).toBe(checkout.baseSha);
  });

  /** The same file, committed by the agent: what Git refuses in one form it must refuse in the other. */
  const commitAlike = async (text: string): Promise<{ headSha: string }> => {
    const again = await node.workspace.claim({
      projectId: checkout.projectId ?? '',
      taskId: 'tsk_b',
      baseSha: checkout.baseSha ?? '',
    });
    writeFiles(again.path, { '.gitmodules': text });
    gitIn(again.path, 'add', '.gitmodules');
    gitIn(again.path, 'commit', '-q', '-m', 'hostile');
    gitIn(again.path, 'reset', '-q', '--soft', 'HEAD');
    const collected = await node.workspace.collect(again.id, { attempt: 1 });
    expect(collected.notes.join(' ')).toMatch(/its commits could not be taken/);
    return collected;
  };

  it('as a link is not stored (.gitmodules), or said to be one (.gitattributes)', async () => {
    await claim();
    symlinkSync('/etc/passwd', join(checkout.path, '.gitmodules'));
    symlinkSync('work.txt', join(checkout.path, '.gitattributes'));
    writeFiles(checkout.path, { 'work.txt': 'work\n' });
    const { headSha, notes } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes).toEqual([
      '.gitattributes: a link, which Git does not follow',
      '.gitmodules: a name that Git does not store, left out',
    ]);
    expect(filesOf(headSha).filter((name) => name.startsWith('.git'))).toEqual(['.gitattributes', '.gitignore']);
  });

  it('keeps its committed version when the new one is refused, and an honest one is taken without a word', async () => {
    await claim({ '.gitmodules': module('') });
    writeFiles(checkout.path, { '.gitmodules': module('\turl = --upload-pack=x\n'), '.gitattributes': '*.txt text\n' });
    const { headSha, notes } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes).toHaveLength(1);
    expect(gitIn(node.workspace.mirrorOf(checkout.projectId ?? ''), 'show', `${headSha}:.gitmodules`)).toBe(module('').trim());
    writeFiles(checkout.path, { '.gitmodules': module('\tbranch = main\n') });
    expect((await node.workspace.collect(checkout.id, { attempt: 2 })).notes).toEqual([]);
  });
});
