/** Environments of their own, on a real node and in the real sandbox. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { commitAll, writeFiles } from '@orrery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf, commandsOn, verdictOf } from './support/commands.ts';
import { settledEnvironment, shownEnvironment } from './support/environments.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { eventsOf, printed, taskEnd, textOf } from './support/wait.ts';

const place = placeOfSuite({ retention: { environmentDays: 30 } });
let life: Life;
let client: Client;

beforeAll(async () => {
  life = await place.up();
  client = place.client(life);
});

const project = async (name: string, init: string, settings = ''): Promise<string> => {
  const repository = makeRepository(place, name, { init, settings });
  await client.call('projectAdd', { body: { source: repository } });
  return repository;
};

const create = async (repository: string, more: object = {}): Promise<EnvironmentView> => {
  const { id } = await client.call('environmentCreate', { body: { project: repository, ...more } });
  return settledEnvironment(client, id);
};

const logOf = async (id: string): Promise<string> =>
  (await client.call('environmentSetupLog', { params: { id }, query: { after: 0 } })).text;

describe('an environment of its own', () => {
  it('is set up by init.sh and the lines of the project, in a log that stays, and finds its ports', async () => {
    const repository = await project(
      'set-up',
      'echo "init in $ORRERY_WORKDIR"; echo init >> "$HOME/runs"',
      'setup: ["echo line >> $HOME/runs", "echo port $ORRERY_PORT_WEB"]\nports: [web]',
    );
    const made = await create(repository, { name: 'set-up' });
    expect([made.state, made.setup.state, made.ports.map(({ name }) => name)]).toEqual(['ready', 'passed', ['web']]);
    const log = await logOf(made.id);
    expect(log).toContain(`init in ${made.workdir}`);
    expect(log).toContain(`$ echo port $ORRERY_PORT_WEB\nport ${made.ports[0]?.port}\n`);
    await client.call('environmentStop', { params: { id: made.id } });
    const stopped = await settledEnvironment(client, made.id);
    expect([stopped.state, stopped.ports]).toEqual(['stopped', made.ports]);
    await client.call('environmentStart', { params: { id: 'set-up' } });
    const again = await settledEnvironment(client, made.id);
    expect([again.state, again.setup]).toMatchObject([
      'ready',
      { state: 'passed', reason: expect.stringContaining('not run again') },
    ]);
    expect(await logOf(made.id)).toBe(log);
    writeFileSync(join(made.workdir ?? '', 'package-lock.json'), '{}');
    await client.call('environmentStop', { params: { id: made.id } });
    await settledEnvironment(client, made.id);
    await client.call('environmentStart', { params: { id: made.id } });
    expect((await settledEnvironment(client, made.id)).setup).toMatchObject({ state: 'passed', reason: null });
    expect((await logOf(made.id)).length).toBeGreaterThan(log.length);
  });

  it('fails with its set-up, runs it again when it is told, and counts as set up when a person says so', async () => {
    const repository = await project('fails', 'echo trying; test -e "$HOME/mended"');
    const made = await create(repository, { name: 'fails' });
    expect([made.state, made.setup.state, made.reason]).toEqual(['failed', 'failed', expect.stringContaining('exit 1')]);
    const answer = await place.cli(['env', 'setup', 'fails', '--json']);
    expect([answer.code, answer.envelope().error?.message]).toEqual([1, expect.stringContaining('init.sh: exit 1')]);
    const overridden = await place.cli(['env', 'setup', 'fails', '--override', '--json']);
    expect([overridden.code, (overridden.envelope().result as { environment: EnvironmentView }).environment]).toMatchObject([
      0,
      { state: 'ready', setup: { state: 'overridden' } },
    ]);
  });

  it('is copied with uncommitted and ignored files and its home; each has its own from then on', async () => {
    const repository = makeRepository(place, 'copied', {
      init: 'echo built > "$HOME/built"; mkdir -p ignored; echo 1 > ignored/file',
    });
    writeFiles(repository, { '.gitignore': 'ignored\n' });
    commitAll(repository, 'ignores');
    await client.call('projectAdd', { body: { source: repository } });
    const from = await create(repository, { name: 'from' });
    writeFileSync(join(from.workdir ?? '', 'new.txt'), 'uncommitted');
    const { id } = await client.call('environmentFork', { params: { id: 'from' }, body: { name: 'to' } });
    const to = await settledEnvironment(client, id);
    expect([to.state, to.setup.state, to.forkedFrom]).toEqual(['ready', 'passed', from.id]);
    const file = (environment: EnvironmentView, name: string) => join(environment.workdir ?? '', name);
    expect([readFileSync(file(to, 'new.txt'), 'utf8'), readFileSync(file(to, 'ignored/file'), 'utf8')]).toEqual([
      'uncommitted',
      '1\n',
    ]);
    expect(readFileSync(join(place.data, 'environments', to.id, 'home', 'built'), 'utf8')).toBe('built\n');
    writeFileSync(file(to, 'new.txt'), 'another');
    expect(readFileSync(file(from, 'new.txt'), 'utf8')).toBe('uncommitted');
  });

  it('is not deleted over unsaved work, keeps running then, and saves it when it is told', async () => {
    const repository = await project('deleted', 'true');
    const made = await create(repository, { name: 'deleted' });
    writeFileSync(join(made.workdir ?? '', 'precious.txt'), 'precious');
    const refused = await place.cli(['env', 'delete', 'deleted']);
    expect(refused.code).toBe(8);
    expect(refused.stderr.trim().split('\n')).toHaveLength(3);
    expect((await shownEnvironment(client, made.id)).state).toBe('ready');
    expect(readFileSync(join(made.workdir ?? '', 'precious.txt'), 'utf8')).toBe('precious');
    expect((await place.cli(['env', 'delete', 'deleted', '--salvage'])).code).toBe(0);
    expect(await codeOf(client.call('environmentShow', { params: { id: made.id } }))).toBe('not_found');
    expect(existsSync(join(place.data, 'environments', made.id))).toBe(false);
    const { items } = await client.call('salvageList', { query: {} });
    const saved = items.find(({ taskId }) => taskId === made.id);
    expect(saved?.reason).toContain('deleted');
    const { paths } = await client.call('salvageShow', { params: { id: saved?.id ?? '' } });
    expect(paths).toEqual(['precious.txt']);
  });

  it('begins again from nothing, with what it held saved', async () => {
    const repository = await project('anew', 'echo run >> "$HOME/runs"; wc -l < "$HOME/runs"');
    const made = await create(repository, { name: 'anew' });
    writeFileSync(join(made.workdir ?? '', 'left.txt'), 'left');
    await client.call('environmentRecreate', { params: { id: made.id } });
    const again = await settledEnvironment(client, made.id);
    expect([again.state, again.id, existsSync(join(again.workdir ?? '', 'left.txt'))]).toEqual(['ready', made.id, false]);
    expect((await logOf(made.id)).match(/^1$/gm)).toHaveLength(1);
    const { items } = await client.call('salvageList', { query: {} });
    expect(items.some(({ taskId }) => taskId === made.id)).toBe(true);
  });

  it('stops a set-up that runs, and that set-up has failed', async () => {
    const repository = await project('endless', 'echo begun; sleep 600');
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'endless' } });
    await settledEnvironment(client, id, ({ setup }) => setup.state === 'running');
    await client.call('environmentStop', { params: { id } });
    const stopped = await settledEnvironment(client, id);
    expect([stopped.state, stopped.setup.state]).toEqual(['stopped', 'failed']);
  });

  it('has its refusals in three lines: names, backends and bases that are not there, and a name that is taken', async () => {
    const repository = await project('refused', 'true');
    for (const [args, code] of [
      [['env', 'show', 'nobody'], 3],
      [['env', 'create', '--project', repository, '--backend', 'nothing'], 2],
      [['env', 'create', '--project', repository, '--base', 'nowhere'], 2],
      [['env', 'create', '--project', repository, '--name', 'fails'], 8],
    ] as const) {
      const answer = await place.cli(args);
      expect([answer.code, answer.stderr.trim().split('\n').length]).toEqual([code, 3]);
    }
  });

  it('goes by retention only when it is stopped and holds nothing that is not saved; a dry run says so and takes nothing', async () => {
    const repository = await project('pruned', 'true');
    const [clean, dirty] = [await create(repository, { name: 'clean' }), await create(repository, { name: 'dirty' })];
    writeFileSync(join(dirty.workdir ?? '', 'work.txt'), 'work');
    for (const { id } of [clean, dirty]) {
      await client.call('environmentStop', { params: { id } });
      await settledEnvironment(client, id);
    }
    const verdicts = async (dryRun: boolean): Promise<Record<string, string | null>> => {
      const { items } = await client.call('environmentPrune', { body: { dryRun, olderThanMs: 0 } });
      return Object.fromEntries(items.map(({ name, kept }) => [name, kept]));
    };
    const dry = await verdicts(true);
    expect(dry).toMatchObject({
      clean: null,
      dirty: expect.stringContaining('nothing else has'),
      'set-up': expect.stringContaining('running'),
    });
    expect((await shownEnvironment(client, clean.id)).state).toBe('stopped');
    await verdicts(false);
    expect(await codeOf(client.call('environmentShow', { params: { id: clean.id } }))).toBe('not_found');
    expect(readFileSync(join(dirty.workdir ?? '', 'work.txt'), 'utf8')).toBe('work');
    expect((await client.call('environmentPrune', { body: { dryRun: true } })).items).toEqual([]);
  });

  it('answers the same request with the same environment', async () => {
    const repository = await project('once', 'true');
    const ask = () => client.call('environmentCreate', { body: { project: repository, start: false, requestId: 'once-1' } });
    const [one, two] = [await ask(), await ask()];
    expect(two.id).toBe(one.id);
    const made = await settledEnvironment(client, one.id);
    expect([made.state, made.setup.state]).toEqual(['stopped', 'pending']);
    expect(
      await codeOf(client.call('environmentCreate', { body: { project: repository, name: 'other', requestId: 'once-1' } })),
    ).toBe('request_conflict');
  });
});

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
