import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, gitTricks, plainRepository, trickWorked, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { projectHandlers } from './index.ts';

let node: GitNode;
let root = '';
beforeEach(async () => {
  node = await openGitNode();
  root = plainRepository(node.folder).root;
});
afterEach(() => node.close());

const read = async (sha: string) => {
  const { id } = await node.projects.add({ source: root });
  await node.projects.refresh(id);
  const { hooks, settings } = await node.projects.readHooks(id, sha);
  return { hooks: Object.fromEntries(hooks.map(({ name, contents }) => [name, contents.toString()])), settings };
};

describe('hooks of a commit', () => {
  it('are its plain blobs, byte for byte, in their order, whatever the tree looks like now', async () => {
    writeFiles(root, {
      '.orrery/hooks/validation.sh': '#!/bin/sh\r\nexit 0\n',
      '.orrery/hooks/before.sh': 'before\n',
      '.orrery/orrery.yaml': 'agent: pi\n',
      '.orrery/hooks/other.sh': 'not a hook\n',
      '.gitattributes': '* text eol=lf ident\n',
    });
    const sha = commitAll(root, 'hooks');
    writeFiles(root, { '.orrery/hooks/validation.sh': 'changed\n', '.orrery/hooks/init.sh': 'not committed\n' });
    const { hooks, settings } = await read(sha);
    expect({ names: Object.keys(hooks), before: hooks['before'], settings }).toEqual({
      names: ['before', 'validation'],
      before: 'before\n',
      settings: 'agent: pi\n',
    });
    expect(hooks['validation']).toBe(gitIn(root, 'show', `${sha}:.orrery/hooks/validation.sh`) + '\n');
    expect((await node.projects.show('plain')).hooks).toEqual(['before', 'validation']);
  });

  it('are none in a commit without any, and its project says so', async () => {
    expect(await read(gitIn(root, 'rev-parse', 'HEAD'))).toEqual({ hooks: {}, settings: null });
  });

  it('are not read through links', async () => {
    writeFiles(root, { 'elsewhere/hooks/init.sh': 'init\n', 'elsewhere/orrery.yaml': 'x\n' });
    symlinkSync('elsewhere', join(root, '.orrery'));
    const folderLink = commitAll(root, 'folder link');
    unlinkSync(join(root, '.orrery'));
    writeFiles(root, { '.orrery/hooks/before.sh': 'before\n' });
    symlinkSync('/etc/passwd', join(root, '.orrery/hooks/init.sh'));
    symlinkSync('/etc/passwd', join(root, '.orrery/orrery.yaml'));
    const fileLink = commitAll(root, 'file link');
    expect([await read(folderLink), await read(fileLink)]).toEqual([
      { hooks: {}, settings: null },
      { hooks: { before: 'before\n' }, settings: null },
    ]);
  });

  it('of a commit that cannot be read are an error, never "none"', async () => {
    writeFiles(root, { '.orrery/hooks/validation.sh': 'exit 1\n' });
    const sha = commitAll(root, 'hooks');
    const { id } = await node.projects.add({ source: root });
    await expect(node.projects.readHooks(id, '1'.repeat(40))).rejects.toMatchObject({ code: 'repository_unusable' });
    rmSync(join(node.workspace.mirrorOf(id), 'objects'), { recursive: true });
    await expect(node.projects.readHooks(id, sha)).rejects.toMatchObject({ code: 'repository_unusable' });
  });

  it('that are larger than a person writes are refused', async () => {
    writeFiles(root, { '.orrery/hooks/init.sh': '#'.repeat(1024 * 1024 + 1) });
    const sha = commitAll(root, 'large');
    await expect(read(sha)).rejects.toMatchObject({ code: 'input_too_large' });
  });

  it('are read from the mirror alone: no filter and no program of the repository’s configuration runs', async () => {
    const marker = join(node.folder, 'marker');
    writeFiles(root, { '.orrery/hooks/init.sh': 'init\n', '.gitattributes': '* filter=evil\n' });
    const sha = commitAll(root, 'hooks');
    const { id } = await node.projects.add({ source: root });
    gitTricks.cleanFilter(root, marker);
    gitTricks.programs(root, marker);
    expect((await node.projects.readHooks(id, sha)).hooks.map(({ name, contents }) => [name, contents.toString()])).toEqual([
      ['init', 'init\n'],
    ]);
    expect(trickWorked(marker)).toBe(false);
  });
});

describe('the project operations', () => {
  const caller = { name: 'test' } as never;
  const call = { params: {}, query: {}, body: undefined, caller } as never;

  it('add, list by pages, rename, and forget with what depends on it named', async () => {
    const handlers = projectHandlers(node.projects);
    const second = plainRepository(join(node.folder, 'more')).root;
    const first = await handlers.projectAdd({ ...(call as object), body: { source: root } } as never);
    const other = await handlers.projectAdd({ ...(call as object), body: { source: second } } as never);
    expect([
      first.name,
      other.name,
      (await handlers.projectAdd({ ...(call as object), body: { source: `${second}/src` } } as never)).id,
    ]).toEqual(['plain', 'plain-2', other.id]);
    const page = await handlers.projectList({ ...(call as object), query: { limit: 1 } } as never);
    const rest = await handlers.projectList({ ...(call as object), query: { limit: 1, cursor: page.nextCursor ?? '' } } as never);
    expect([...page.items, ...rest.items].map(({ id }) => id)).toEqual([first.id, other.id]);
    await expect(
      handlers.projectSet({ ...(call as object), params: { id: 'plain' }, body: { name: 'plain-2' } } as never),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect(
      (await handlers.projectSet({ ...(call as object), params: { id: 'plain' }, body: { name: 'first' } } as never)).name,
    ).toBe('first');

    const checkout = await node.workspace.claim({ projectId: first.id, taskId: 'tsk_a', baseSha: first.headSha ?? '' });
    const remove = (salvage: boolean) =>
      handlers.projectRemove({ ...(call as object), params: { id: 'first' }, query: { salvage } } as never);
    await expect(remove(false)).rejects.toMatchObject({ code: 'busy' });
    writeFiles(checkout.path, { 'new.txt': 'new\n' });
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
    await expect(remove(false)).rejects.toMatchObject({ code: 'unsaved_work', details: { results: 0, salvage: 1 } });
    expect(await remove(true)).toEqual({ ok: true });
    expect(gitIn(node.workspace.mirrorOf(first.id), 'show', 'refs/orrery/salvage/tsk_a/1:new.txt')).toBe('new');
    expect(
      await handlers.projectRemove({ ...(call as object), params: { id: other.id }, query: { salvage: false } } as never),
    ).toEqual({ ok: true });
    await expect(handlers.projectShow({ ...(call as object), params: { id: other.id } } as never)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(gitIn(second, 'status', '--porcelain')).toBe('');
    expect(node.events.map(({ body }) => body.kind)).toEqual([
      'project.added',
      'project.added',
      'project.changed',
      'salvage.saved',
      'project.removed',
      'project.removed',
    ]);
  });
});
