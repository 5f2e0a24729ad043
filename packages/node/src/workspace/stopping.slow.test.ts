import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, plainRepository } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import type { Checkout } from './index.ts';

/** What a build leaves: no folder that could be moved as one. */
const FILES = 50_000;

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

const rows = (): Promise<{ kind: string; state: string }[]> =>
  node.store.read.selectFrom('checkout').select(['kind', 'state']).where('kind', '!=', 'mirror').orderBy('kind').execute();
const loose = (folder: string): number => readdirSync(folder).filter((name) => name.endsWith('.log')).length;

/** A checkout with a great many ignored files, next to those of the repository. */
const claimed = async (): Promise<Checkout> => {
  const checkout = await node.workspace.claim({ projectId, taskId: 'tsk_a', baseSha });
  for (let at = 0; at < FILES; at++) writeFileSync(join(checkout.path, `${at}.log`), '');
  return checkout;
};

/** The next start of the node on the same directory, its work in the background done. */
const startAgain = async () => {
  const workspace = node.makeWorkspace();
  const recovered = await workspace.recover([]);
  await workspace.settled();
  return { workspace, recovered };
};

/** Every ignored file is aside now, none was lost and none is left in the slot, which the next task gets. */
const expectAllAside = async ({ workspace }: Awaited<ReturnType<typeof startAgain>>): Promise<void> => {
  const aside = await workspace.aside();
  expect(aside.map(({ path }) => loose(path)).reduce((sum, count) => sum + count, 0)).toBe(FILES);
  expect((await rows()).filter(({ kind }) => kind === 'slot')).toEqual([{ kind: 'slot', state: 'ready' }]);
  const next = await workspace.claim({ projectId, taskId: 'tsk_b', baseSha });
  expect({ warm: next.warm, status: gitIn(next.path, 'status', '--porcelain', '--ignored') }).toEqual({ warm: true, status: '' });
};

describe('a node that ends', () => {
  it('does not begin to clean what was just released; the next start does', { timeout: 600_000 }, async () => {
    const checkout = await claimed();
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.close();
    expect({ rows: await rows(), left: loose(checkout.path) }).toEqual({
      rows: [{ kind: 'slot', state: 'scrubbing' }],
      left: FILES,
    });
    const again = await startAgain();
    expect(again.recovered).toMatchObject({ released: 1, unsettled: [] });
    await expectAllAside(again);
  });

  it('stops in the middle of moving files aside; the next start moves the others', { timeout: 600_000 }, async () => {
    const checkout = await claimed();
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    const aside = join(node.dataDirectory, 'workspaces', 'aside');
    await expect
      .poll(() => existsSync(aside) && readdirSync(aside).some((name) => loose(join(aside, name)) > 0), {
        timeout: 120_000,
        interval: 1,
      })
      .toBe(true);
    await node.workspace.close();
    expect({ rows: await rows(), some: loose(checkout.path) > 0 }).toEqual({
      rows: [
        { kind: 'aside', state: 'kept' },
        { kind: 'slot', state: 'scrubbing' },
      ],
      some: true,
    });
    await expectAllAside(await startAgain());
  });
});
