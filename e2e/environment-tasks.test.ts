/** Tasks that work in environments of their own, on a real node and in the real sandbox. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { commitAll, gitIn } from '@orrery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf, commandsOn, verdictOf } from './support/commands.ts';
import { settledEnvironment, shownEnvironment } from './support/environments.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { eventsOf, printed, taskEnd, textOf } from './support/wait.ts';

const place = placeOfSuite();
let life: Life;
let client: Client;

beforeAll(async () => {
  life = await place.up();
  client = place.client(life);
});

const project = async (name: string, init: string): Promise<string> => {
  const repository = makeRepository(place, name, { init });
  await client.call('projectAdd', { body: { source: repository } });
  return repository;
};

const create = async (repository: string, more: object = {}): Promise<EnvironmentView> => {
  const { id } = await client.call('environmentCreate', { body: { project: repository, ...more } });
  return settledEnvironment(client, id);
};

describe('tasks in an environment of its own', () => {
  const { send, conduct } = commandsOn(place, () => client);

  it('begin when it is set up, see what was left there before, and leave it as they end', async () => {
    const repository = await project(
      'worked-in',
      'echo begun; until [ -e "$HOME/go" ]; do sleep 0.1; done; echo set-up > done.txt',
    );
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'worked-in' } });
    await settledEnvironment(client, id, ({ setup }) => setup.state === 'running');
    const first = await send('cat done.txt > seen.txt; echo kept > "$HOME/kept"', { environment: 'worked-in' });
    expect((await client.call('taskShow', { params: { id: first } })).project?.path).toBe(repository);
    const second = await send('cat seen.txt "$HOME/kept"; echo more > more.txt', { environment: id });
    writeFileSync(join(place.data, 'environments', id, 'home', 'go'), '');
    const [one, two] = [await taskEnd(client, first), await taskEnd(client, second)];
    expect([one.verdict, two.verdict]).toEqual(['accepted', 'accepted']);
    expect(textOf(await eventsOf(client, second))).toBe('set-up\nkept\n');
    expect(two.startedAt! >= one.endedAt!).toBe(true);
    const { files } = await client.call('taskDiff', { params: { id: second } });
    expect(files.map(({ path }) => path).toSorted()).toEqual(['done.txt', 'more.txt', 'seen.txt']);
    const left = await shownEnvironment(client, id);
    expect([left.state, left.taskId, readFileSync(join(left.workdir ?? '', 'more.txt'), 'utf8')]).toEqual([
      'ready',
      null,
      'more\n',
    ]);
  });

  it('hold work that is brought into the repository: what is not committed as one commit, later work on top of it, and over nobody’s changes', async () => {
    const repository = await project('applied', 'true');
    const made = await create(repository, { name: 'applied' });
    const head = (): string => gitIn(repository, 'log', '-1', '--format=%s %an');
    expect((await conduct('echo one > one.txt', { environment: 'applied' })).verdict).toBe('accepted');
    const applied = await place.cli(['env', 'apply', 'applied', '--message', 'Add one'], { cwd: repository });
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('was moved forward') });
    expect([head(), gitIn(repository, 'show', 'HEAD:one.txt')]).toEqual(['Add one orrery', 'one']);
    expect(await place.cli(['env', 'apply', 'applied'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('has it already'),
    });
    expect(
      (
        await conduct(
          'echo two > two.txt; git add two.txt; git -c user.name=agent -c user.email=a@b commit -qm "Two of its own"',
          { environment: 'applied' },
        )
      ).verdict,
    ).toBe('accepted');
    writeFileSync(join(repository, 'mine.txt'), 'mine');
    gitIn(repository, 'add', 'mine.txt');
    expect(await codeOf(client.call('environmentApply', { params: { id: made.id }, body: {} }))).toBe('dirty_tree');
    const branch = await client.call('environmentApply', { params: { id: made.id }, body: { mode: 'branch', branch: 'theirs' } });
    expect([branch.treeUpdated, gitIn(repository, 'show', 'theirs:two.txt'), head()]).toEqual([false, 'two', 'Add one orrery']);
    commitAll(repository, 'mine');
    expect(await place.cli(['env', 'apply', 'applied'], { cwd: repository })).toMatchObject({ code: 0 });
    expect(gitIn(repository, 'ls-tree', '--name-only', 'HEAD').split('\n')).toEqual(
      expect.arrayContaining(['mine.txt', 'one.txt', 'two.txt']),
    );
    const { items } = await client.call('auditList', { query: { action: 'environment.apply' } });
    expect(items.map(({ subject }) => subject)).toEqual([made.id, made.id, made.id, made.id]);
    const running = await send('echo begun; sleep 600', { environment: 'applied' });
    await printed(client, running, 'begun');
    expect(await codeOf(client.call('environmentApply', { params: { id: made.id }, body: {} }))).toBe('busy');
    await client.call('taskCancel', { params: { id: running }, body: {} });
    await taskEnd(client, running);
  });

  it('start one that is stopped; one whose set-up failed refuses them', async () => {
    const repository = await project('stopped', 'test ! -e "$HOME/broken"');
    const made = await create(repository, { name: 'stopped', start: false });
    expect((await conduct('true', { environment: 'stopped' })).verdict).toBe('accepted');
    writeFileSync(join(place.data, 'environments', made.id, 'home', 'broken'), '');
    await client.call('environmentSetup', { params: { id: made.id }, body: {} });
    expect((await settledEnvironment(client, made.id)).state).toBe('failed');
    const refused = await conduct('true', { environment: 'stopped' });
    expect([...verdictOf(refused), refused.reason]).toEqual(['failed', 'workspace', expect.stringContaining('is failed')]);
  });

  it('can be cancelled, alone: nothing else in the environment ends, and it cannot be taken away meanwhile', async () => {
    const repository = await project('cancelled', 'true');
    const made = await create(repository, { name: 'cancelled' });
    const id = await send('echo begun; sleep 600', { environment: 'cancelled' });
    await printed(client, id, 'begun');
    expect((await shownEnvironment(client, made.id)).taskId).toBe(id);
    for (const verb of ['environmentStop', 'environmentRecreate'] as const)
      expect(await codeOf(client.call(verb, { params: { id: made.id } }))).toBe('busy');
    expect(await codeOf(client.call('environmentDelete', { params: { id: made.id }, query: { salvage: 'true' } }))).toBe('busy');
    await client.call('taskCancel', { params: { id }, body: {} });
    expect((await taskEnd(client, id)).verdict).toBe('cancelled');
    expect(await shownEnvironment(client, made.id)).toMatchObject({ state: 'ready', taskId: null });
    expect((await conduct('echo again', { environment: 'cancelled' })).verdict).toBe('accepted');
  });

  it('are refused with another project, backend or base, and in an environment that is not there', async () => {
    const repository = await project('other', 'true');
    for (const [more, code] of [
      [{ environment: 'nowhere' }, 'not_found'],
      [{ environment: 'cancelled', project: repository }, 'invalid_input'],
      [{ environment: 'cancelled', backend: 'local' }, 'invalid_input'],
      [{ environment: 'cancelled', base: 'main' }, 'invalid_input'],
    ] as const)
      expect(await codeOf(send('true', more))).toBe(code);
  });

  it('go on after the node died, in the same environment, which stays', async () => {
    const id = await send('echo begun; sleep 2; echo over', { environment: 'cancelled' });
    await printed(client, id, 'begun');
    await life.kill();
    life = await place.up();
    client = place.client(life);
    const task = await taskEnd(client, id);
    expect([task.verdict, task.attempts, textOf(await eventsOf(client, id))]).toEqual(['accepted', 1, 'begun\nover\n']);
    expect(await shownEnvironment(client, 'cancelled')).toMatchObject({ state: 'ready', taskId: null });
  });
});

describe('when all are deleted', () => {
  it('nothing is left behind', async () => {
    const { items } = await client.call('environmentList', { query: { limit: 200 } });
    for (const { id } of items)
      await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });
});
