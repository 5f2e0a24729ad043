import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { SETUP_CACHE_DAYS, SETUP_CACHES } from '../kernel/limits.ts';
import type { Checkout } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

const state = { key: 'key', paths: ['node_modules', 'packages/a/node_modules'] };

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  root = plainRepository(node.folder).root;
  writeFiles(root, { '.gitignore': 'node_modules\n.env\n', 'packages/a/x.txt': 'x' });
  commitAll(root, 'ignores');
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId: string, base = baseSha): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha: base });

/** What a set-up leaves. */
const install = ({ path }: Checkout, text: string): void => {
  writeFiles(path, { 'node_modules/.bin/tool': text, 'packages/a/node_modules/b/index.js': 'b' });
  symlinkSync('../x.txt', join(path, 'packages/a/node_modules/link'));
};
const tool = ({ path }: Checkout): string | null =>
  existsSync(join(path, 'node_modules/.bin/tool')) ? readFileSync(join(path, 'node_modules/.bin/tool'), 'utf8') : null;

const made = async (taskId = 'tsk_first', text = 'made'): Promise<Checkout> => {
  const checkout = await claim(taskId);
  install(checkout, text);
  expect(await node.workspace.keepSetup(checkout.id, state)).toBeNull();
  return checkout;
};
const setups = () =>
  node.store.read.selectFrom('checkout').select(['state', 'path']).where('kind', '=', 'setup').orderBy('id').execute();

describe('what a set-up leaves', () => {
  it('is in the next checkout with the same key, its own from then on, and neither sees the other', async () => {
    const first = await made();
    writeFileSync(join(first.path, 'node_modules/.bin/tool'), 'changed by an agent');
    const second = await claim('tsk_second');
    expect(await node.workspace.takeSetup(second.id, state)).toEqual({ madeAtMs: expect.any(Number) });
    expect([tool(second), readlinkSync(join(second.path, 'packages/a/node_modules/link'))]).toEqual(['made', '../x.txt']);
    writeFileSync(join(second.path, 'node_modules/.bin/tool'), 'changed again');
    const third = await claim('tsk_third');
    await node.workspace.takeSetup(third.id, state);
    expect([tool(first), tool(second), tool(third)]).toEqual(['changed by an agent', 'changed again', 'made']);
    expect(gitIn(third.path, 'status', '--porcelain')).toBe('');
  });

  it('is not kept aside when its checkout is given back: it can be had again', async () => {
    await made();
    const second = await claim('tsk_second');
    await node.workspace.takeSetup(second.id, state);
    writeFiles(second.path, { 'node_modules/more': 'more' });
    await node.workspace.release(second.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    expect(await node.workspace.aside()).toEqual([]);
    const next = await claim('tsk_next');
    expect([next.warm, tool(next)]).toEqual([true, null]);
  });

  const others: Record<string, () => Promise<Checkout>> = {
    'another key': async () => made(),
    'a commit that is not in the history': async () => {
      gitIn(root, 'checkout', '-q', '-b', 'poisoned');
      writeFiles(root, { 'postinstall.js': 'evil' });
      const poisoned = commitAll(root, 'evil');
      gitIn(root, 'checkout', '-q', 'main');
      await node.projects.refresh(projectId);
      const checkout = await claim('tsk_poisoned', poisoned);
      install(checkout, 'evil');
      await node.workspace.keepSetup(checkout.id, state);
      return checkout;
    },
    'other copied files': async () => {
      writeFiles(root, { '.env': 'A=1' });
      const checkout = await claim('tsk_first');
      await node.workspace.bringFiles(checkout.id, ['.env']);
      install(checkout, 'with .env');
      await node.workspace.keepSetup(checkout.id, state);
      return checkout;
    },
    'another project': async () => {
      const other = await node.projects.add({ source: `file://${root}` });
      const checkout = await node.workspace.claim({ projectId: other.id, taskId: 'tsk_other', baseSha });
      install(checkout, 'of another');
      await node.workspace.keepSetup(checkout.id, state);
      return checkout;
    },
  };

  it.each(Object.entries(others))('is not taken with %s', async (name, make) => {
    await make();
    expect(await setups()).toHaveLength(1);
    const second = await claim('tsk_second');
    const key = name === 'another key' ? 'another' : state.key;
    expect([await node.workspace.takeSetup(second.id, { ...state, key }), tool(second)]).toEqual([null, null]);
  });

  it('of an older commit is taken by a later one, and the other way round not', async () => {
    await made();
    const older = baseSha;
    writeFiles(root, { 'new.txt': 'new' });
    const newer = commitAll(root, 'newer');
    await node.projects.refresh(projectId);
    const later = await claim('tsk_later', newer);
    expect(await node.workspace.takeSetup(later.id, state)).not.toBeNull();
    await node.workspace.forgetSetup(projectId, state.key);
    expect(await setups()).toEqual([]);
    await node.workspace.keepSetup(later.id, state);
    expect(await node.workspace.takeSetup((await claim('tsk_older', older)).id, state)).toBeNull();
  });

  it.each([
    ['nothing is there', [], /none of the folders/],
    ['a link is in its place', ['link'], /none of the folders/],
    ['files in it are committed', ['packages'], /holds files that are committed/],
  ] as const)('is not kept where %s', async (_, paths, why) => {
    const checkout = await claim('tsk_first');
    symlinkSync('/tmp', join(checkout.path, 'link'));
    expect(await node.workspace.keepSetup(checkout.id, { key: 'key', paths })).toMatch(why);
    expect(await setups()).toEqual([]);
  });

  it('is taken whole or not at all: a cut-off copy is done again, a cut-off state is gone with the next start', async () => {
    const first = await made();
    const second = await claim('tsk_second');
    mkdirSync(join(second.path, 'node_modules/half'), { recursive: true });
    await node.workspace.takeSetup(second.id, state);
    expect(readdirSync(join(second.path, 'node_modules'))).toEqual(['.bin']);
    await node.store.transaction(async ({ db }) => {
      await db.updateTable('checkout').set({ state: 'making' }).where('kind', '=', 'setup').execute();
    });
    expect(await node.workspace.takeSetup((await claim('tsk_third')).id, state)).toBeNull();
    await node.makeWorkspace().recover(['tsk_first', 'tsk_second', 'tsk_third']);
    expect(await setups()).toEqual([]);
    expect(tool(first)).toBe('made');
  });

  it('that cannot be read is none', async () => {
    await made();
    const [{ path } = { path: '' }] = await setups();
    writeFileSync(join(path, 'entry.json'), '{"key":');
    expect(await node.workspace.takeSetup((await claim('tsk_second')).id, state)).toBeNull();
    rmSync(join(path, 'entry.json'));
    expect(await node.workspace.takeSetup((await claim('tsk_third')).id, state)).toBeNull();
  });

  it('goes when there are too many, the longest unused first, and after its days', async () => {
    const checkout = await made();
    let now = node.clock.nowMs();
    node.clock.nowMs = () => (now += 1000);
    for (let count = 1; count <= SETUP_CACHES; count++)
      await node.workspace.keepSetup(checkout.id, { ...state, key: `k${count}` });
    expect(await setups()).toHaveLength(SETUP_CACHES);
    const second = await claim('tsk_second');
    expect(await node.workspace.takeSetup(second.id, state)).toBeNull();
    expect(await node.workspace.takeSetup(second.id, { ...state, key: 'k1' })).not.toBeNull();
    expect(await node.workspace.reclaimSetups()).toBe(0);
    now += SETUP_CACHE_DAYS * 24 * 3_600_000;
    expect(await node.workspace.reclaimSetups()).toBe(SETUP_CACHES);
    expect((await setups()).filter(({ path }) => existsSync(path))).toEqual([]);
  });

  it('goes with its project', async () => {
    const checkout = await made();
    await node.workspace.release(checkout.id, { salvage: false, reason: 'test' });
    await node.workspace.settled();
    await node.projects.remove(projectId, { salvage: true });
    expect(await setups()).toEqual([]);
  });
});
