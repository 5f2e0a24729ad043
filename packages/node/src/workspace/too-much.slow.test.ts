import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { SNAPSHOT_BYTES } from '../kernel/limits.ts';
import type { Checkout } from './index.ts';

const HUGE = 64 * 1024 ** 3;

let node: GitNode;
let projectId = '';
let baseSha = '';

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  const project = await node.projects.add({ source: plainRepository(node.folder).root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId: string): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha });
const slots = () => node.store.read.selectFrom('checkout').select(['kind', 'state']).where('kind', '!=', 'mirror').execute();

/** A file of holes: nothing on the disk, and all of it to be read. */
const makeHuge = (path: string, bytes = HUGE): void => truncateSync(path, bytes);

describe('files that are too much to be taken', () => {
  it('are left out and named, the others are taken, and the checkout is kept with them', { timeout: 300_000 }, async () => {
    const checkout = await claim('tsk_a');
    writeFiles(checkout.path, { 'small.txt': 'small\n', 'huge.bin': '' });
    for (const name of ['huge.bin', 'README.md']) makeHuge(join(checkout.path, name));
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect({ files: collected.files.map(({ path }) => path), notes: collected.notes }).toEqual({
      files: ['small.txt'],
      notes: [
        'README.md, huge.bin: left out, as the files that were not committed are more than 4 GiB or 500000 together; they stay in the checkout, which is kept aside when it is given back (retention.asideDays)',
      ],
    });
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test', untouched: true });
    await node.workspace.settled();
    expect(await slots()).toEqual([{ kind: 'aside', state: 'kept' }]);
    const [aside] = await node.workspace.aside();
    const kept = ['README.md', 'huge.bin'].map((name) => statSync(join(aside?.path ?? '', 'tree', name)).size);
    expect({ taskId: aside?.taskId, kept }).toEqual({ taskId: 'tsk_a', kept: [HUGE, HUGE] });
    const next = await claim('tsk_b');
    expect({ warm: next.warm, status: gitIn(next.path, 'status', '--porcelain', '--ignored') }).toEqual({
      warm: false,
      status: '',
    });
  });

  it('are too much together: the smallest are taken', { timeout: 300_000 }, async () => {
    const checkout = await claim('tsk_a');
    writeFiles(checkout.path, { 'a.bin': '', 'b.txt': 'b\n', 'c.bin': '' });
    makeHuge(join(checkout.path, 'a.bin'), SNAPSHOT_BYTES);
    makeHuge(join(checkout.path, 'c.bin'), SNAPSHOT_BYTES - 1);
    const saved = await node.workspace.release(checkout.id, { salvage: true, reason: 'the task was cancelled' });
    const shown = gitIn(node.workspace.mirrorOf(projectId), 'ls-tree', '--name-only', saved[0]?.sha ?? '').split('\n');
    expect(shown.filter((name) => /^[abc]\./.test(name))).toEqual(['b.txt']);
    expect(await slots()).toEqual([{ kind: 'aside', state: 'kept' }]);
  });

  it('when the node ended meanwhile are kept by the next start', { timeout: 300_000 }, async () => {
    const checkout = await claim('tsk_a');
    writeFiles(checkout.path, { 'huge.bin': '' });
    makeHuge(join(checkout.path, 'huge.bin'));
    const again = node.makeWorkspace();
    expect(await again.recover([])).toMatchObject({ released: 1, unsettled: [] });
    await again.settled();
    const [aside] = await again.aside();
    expect(statSync(join(aside?.path ?? '', 'tree', 'huge.bin')).size).toBe(HUGE);
  });
});
