import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { createArchives, salvageHandlers, type Checkout } from './index.ts';

let node: GitNode;
let root = '';
let projectId = '';
let baseSha = '';

beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
  root = plainRepository(node.folder).root;
  const project = await node.projects.add({ source: root });
  projectId = project.id;
  baseSha = project.headSha ?? '';
});
afterEach(() => node.close());

const claim = (taskId = 'tsk_a'): Promise<Checkout> => node.workspace.claim({ projectId, taskId, baseSha });
const mirror = (): string => node.workspace.mirrorOf(projectId);
const handlers = () =>
  salvageHandlers({
    ...node,
    archives: createArchives({
      directory: join(node.folder, 'archives'),
      trees: { unpack: async () => undefined },
      ownFolders: [],
    }),
    whose: async () => null,
    reclaim: node.workspace.reclaimSalvage,
    deleted: async () => undefined,
  });
const caller = { name: 'test', scope: 'owner', tokenId: null } as never;
const slots = () =>
  node.store.read
    .selectFrom('checkout')
    .select(['kind', 'state', 'task_id'])
    .where('kind', '!=', 'mirror')
    .orderBy('kind')
    .execute();

describe('saved work', () => {
  it('has every file with its mode, a row and an event, and comes back as a branch that touches nothing', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'new.txt': 'new\n', 'src/main.txt': 'changed\n', 'debug.log': 'ignored\n' });
    const [saved] = await node.workspace.salvage(checkout.id, 'checkpoint');
    if (saved === undefined) throw new Error('nothing was saved');
    expect(await node.workspace.salvage(checkout.id, 'again')).toEqual([]);
    const listed = await handlers().salvageList({ params: {}, query: { limit: 50, project: 'plain' }, body: undefined, caller });
    const expected = {
      id: saved.id,
      kind: 'commit',
      bytes: null,
      projectId,
      projectName: 'plain',
      taskId: 'tsk_a',
      ref: 'refs/orrery/salvage/tsk_a/1',
      sha: saved.sha,
      reason: 'checkpoint',
      files: 2,
      createdAt: listed.items[0]?.createdAt,
    };
    expect(listed.items).toEqual([expected]);
    expect(await handlers().salvageShow({ params: { id: saved.id }, query: {}, body: undefined, caller })).toEqual({
      ...expected,
      paths: ['new.txt', 'src/main.txt'],
    });
    expect(node.events.map(({ body }) => body)).toContainEqual({
      kind: 'salvage.saved',
      projectId,
      ref: saved.ref,
      taskId: 'tsk_a',
    });

    writeFiles(root, { 'README.md': 'dirty\n' });
    const before = [gitIn(root, 'status', '--porcelain'), readFileSync(join(root, '.git/config'), 'utf8')];
    const restored = await handlers().salvageRestore({ params: { id: saved.id }, query: {}, body: {}, caller });
    expect(restored).toEqual({ id: saved.id, branch: 'orrery/salvage/tsk_a/1', sha: saved.sha, folder: null });
    expect(gitIn(root, 'show', `${restored.branch}:new.txt`)).toBe('new');
    expect([gitIn(root, 'status', '--porcelain'), readFileSync(join(root, '.git/config'), 'utf8')]).toEqual(before);
  });
});

describe('retention of saved work', () => {
  it('names what is older than its days first, takes only that, and asks for the days', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'new.txt': 'new\n' });
    const [saved] = await node.workspace.salvage(checkout.id, 'test');
    expect(await node.workspace.reclaimSalvage({ dryRun: false, days: 1 })).toEqual([]);
    const due = [{ id: saved?.id, projectId, ref: saved?.ref, sha: saved?.sha, savedAtMs: expect.any(Number), ageDays: 0 }];
    expect(await node.workspace.reclaimSalvage({ dryRun: true, days: 0 })).toEqual(due);
    expect(gitIn(mirror(), 'rev-parse', saved?.ref ?? '')).toBe(saved?.sha);
    expect(await node.workspace.reclaimSalvage({ dryRun: false, days: 0 })).toEqual(due);
    expect({
      refs: gitIn(mirror(), 'for-each-ref', 'refs/orrery/salvage/'),
      rows: (await handlers().salvageList({ params: {}, query: { limit: 50 }, body: undefined, caller })).items,
    }).toEqual({ refs: '', rows: [] });
  });
});

describe('the next start', () => {
  it('takes away old locks of a mirror, and no fresh one', async () => {
    const old = join(mirror(), 'refs/orrery/head.lock');
    const fresh = join(mirror(), 'packed-refs.lock');
    writeFileSync(old, '');
    writeFileSync(fresh, '');
    utimesSync(old, 1, 1);
    const next = node.makeWorkspace();
    await next.recover([]);
    await next.settled();
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });

  it('keeps the checkouts of live tasks, saves and gives back the others, and takes half-made ones away', async () => {
    const [live, dead] = [await claim('tsk_live'), await claim('tsk_dead')];
    writeFiles(live.path, { 'live.txt': 'live\n' });
    writeFiles(dead.path, { 'dead.txt': 'dead\n' });
    const half = join(node.dataDirectory, 'workspaces', projectId, 'slot_half');
    mkdirSync(half);
    const row = { project_id: projectId, kind: 'slot', base_sha: null, created_at: 1, used_at: 1 };
    await node.store.transaction((tx) =>
      tx.db
        .insertInto('checkout')
        .values([
          { ...row, id: 'slot_half', path: half, device: null, inode: null, state: 'making', task_id: 'tsk_x' },
          { ...row, id: 'slot_gone', path: `${half}-gone`, device: 1, inode: 1, state: 'ready', task_id: null },
        ])
        .execute(),
    );
    gitIn(mirror(), 'update-ref', 'refs/orrery/salvage/tsk_lost/1', baseSha);

    const next = node.makeWorkspace();
    expect(await next.recover(['tsk_live'])).toEqual({ removed: 1, released: 1, salvaged: 2, vanished: 1, unsettled: [] });
    await next.settled();
    expect((await next.checkoutOf('tsk_live'))?.path).toBe(live.path);
    expect(readFileSync(join(live.path, 'live.txt'), 'utf8')).toBe('live\n');
    expect(gitIn(mirror(), 'show', 'refs/orrery/salvage/tsk_dead/1:dead.txt')).toBe('dead');
    expect(existsSync(half)).toBe(false);
    expect(
      (await node.store.read.selectFrom('salvage').select('task_id').orderBy('task_id').execute()).map(({ task_id }) => task_id),
    ).toEqual(['tsk_dead', 'tsk_lost']);
    expect(await next.recover(['tsk_live'])).toEqual({ removed: 0, released: 0, salvaged: 0, vanished: 0, unsettled: [] });
  });

  it('takes away a ready slot that was being given to a task: another is made for that task', async () => {
    await node.workspace.warm(projectId, baseSha);
    const { path } = await node.store.read
      .selectFrom('checkout')
      .select('path')
      .where('state', '=', 'ready')
      .executeTakeFirstOrThrow();
    mkdirSync(join(path, 'tree/.git'));
    const next = node.makeWorkspace();
    expect(await next.recover(['tsk_a'])).toEqual({ removed: 1, released: 0, salvaged: 0, vanished: 0, unsettled: [] });
    const checkout = await next.claim({ projectId, taskId: 'tsk_a', baseSha });
    expect([checkout.warm, existsSync(path), gitIn(checkout.path, 'status', '--porcelain')]).toEqual([false, false, '']);
  });

  it('goes on with a cleaning that was interrupted', async () => {
    const checkout = await claim();
    writeFiles(checkout.path, { 'debug.log': 'ignored\n' });
    await node.store.transaction((tx) =>
      tx.db.updateTable('checkout').set({ state: 'scrubbing' }).where('task_id', '=', 'tsk_a').execute(),
    );
    const next = node.makeWorkspace();
    await next.recover([]);
    await next.settled();
    expect(await slots()).toEqual([
      { kind: 'aside', state: 'kept', task_id: 'tsk_a' },
      { kind: 'slot', state: 'ready', task_id: null },
    ]);
  });
});
