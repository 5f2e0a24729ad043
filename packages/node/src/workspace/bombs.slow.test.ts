import { deltaBomb, fileBomb, gitIn, plainRepository, treeBomb, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout } from './index.ts';

const MIB = 1024 * 1024;

let node: GitNode;
let checkout: Checkout;
let baseSha = '';

beforeEach(async () => {
  node = await openGitNode({ memoryBytes: 96 * MIB });
  const project = await node.projects.add({ source: plainRepository(node.folder).root });
  baseSha = project.headSha ?? '';
  checkout = await node.workspace.claim({ projectId: project.id, taskId: 'tsk_a', baseSha });
});
afterEach(() => node.close());

describe('objects of an agent that are small on the disk and huge in memory', () => {
  it.each([
    ['a folder of many names', treeBomb],
    ['a delta that copies one block again and again', deltaBomb],
  ])(
    '%s: Git is refused the memory, the commit stays where it is and that is said, the files are taken',
    async (_, bomb) => {
      bomb(checkout.path, 256 * MIB);
      writeFiles(checkout.path, { 'work.txt': 'work\n' });
      const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
      expect(collected.notes).toContainEqual(
        expect.stringMatching(/^its commits could not be taken: git [a-z-]+ needed more memory than one may have/),
      );
      const mirror = node.workspace.mirrorOf(checkout.projectId ?? '');
      expect(gitIn(mirror, 'show', `${collected.headSha}:work.txt`)).toBe('work');
      expect(gitIn(mirror, 'rev-parse', `${collected.headSha}^`)).toBe(baseSha);
    },
    240_000,
  );

  it('a large file is no such object: it goes through in pieces, is counted as one that is not text, and cuts the patch', async () => {
    fileBomb(checkout.path, 256 * MIB);
    const head = gitIn(checkout.path, 'rev-parse', 'HEAD');
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect({ notes: collected.notes, commits: collected.commits }).toEqual({ notes: [], commits: 2 });
    const mirror = node.workspace.mirrorOf(checkout.projectId ?? '');
    expect(gitIn(mirror, 'cat-file', '-s', `${head}:large`)).toBe(String(256 * MIB));
    const { results } = node;
    const diff = await results.diff({ taskId: 'tsk_a', projectId: checkout.projectId ?? '', baseSha, headSha: head });
    expect([diff.truncated, diff.patch]).toEqual([true, expect.stringContaining('deleted file mode')]);
    expect(diff.files.find(({ path }) => path === 'large')).toEqual({
      path: 'large',
      oldPath: null,
      status: 'added',
      insertions: null,
      deletions: null,
    });
  }, 240_000);
});
