/** Environments of their own, on a real node and in the real sandbox. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { commitAll, writeFiles } from '@orrery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBubblewrap } from './support/bubblewrap.ts';
import { codeOf, commandsOn } from './support/commands.ts';
import { settledEnvironment, shownEnvironment } from './support/environments.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { eventsOf, textOf } from './support/wait.ts';

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

  it('gets the ignored files that the project names, again when it is made anew, and its results and forks do not hold them', async () => {
    const repository = makeRepository(place, 'ignored', { init: 'cat .env', settings: 'copy: [.env, .env.missing]' });
    writeFiles(repository, { '.gitignore': '.env*\n' });
    commitAll(repository, 'ignores');
    writeFiles(repository, { '.env': 'FIRST=1\n' });
    await client.call('projectAdd', { body: { source: repository } });
    const made = await create(repository, { name: 'ignored' });
    expect(await logOf(made.id)).toMatch(/── \.env\.missing is not there, and was not copied ──[^]*FIRST=1\n/);
    writeFiles(repository, { '.env': 'SECOND=2\n' });
    await client.call('environmentRecreate', { params: { id: made.id } });
    const again = await settledEnvironment(client, made.id);
    expect(await logOf(made.id)).toContain('SECOND=2\n');
    const { id } = await client.call('environmentFork', { params: { id: made.id }, body: { name: 'ignored-too' } });
    const fork = await settledEnvironment(client, id);
    for (const { workdir } of [again, fork]) writeFiles(workdir ?? '', { '.gitignore': '', 'work.txt': 'work\n' });
    for (const name of ['ignored', 'ignored-too']) expect((await place.cli(['env', 'delete', name, '--salvage'])).code).toBe(0);
    const { items } = await client.call('salvageList', { query: {} });
    for (const { id: taskId } of [again, fork]) {
      const saved = items.find((item) => item.taskId === taskId);
      const { paths } = await client.call('salvageShow', { params: { id: saved?.id ?? '' } });
      expect(paths).toEqual(['.gitignore', 'work.txt']);
    }
  });

  it('takes what an earlier set-up left, as tasks do, until one is made anew', async () => {
    const init = 'echo "init runs"; mkdir -p deps; cat /proc/sys/kernel/random/uuid > deps/id';
    const repository = await project('cached', init, 'cache: [deps]');
    writeFiles(repository, { '.gitignore': 'deps\n' });
    commitAll(repository, 'ignores');
    const idIn = ({ workdir }: EnvironmentView) => readFileSync(join(workdir ?? '', 'deps/id'), 'utf8');
    const inTask = async (...more: string[]): Promise<string> => {
      const command = ['--command', '--', 'sh', '-c', 'cp deps/id id.txt'];
      expect((await place.cli(['run', '--project', repository, ...more, ...command])).code).toBe(0);
      const { items } = await client.call('taskList', { query: {} });
      return (
        (await client.call('taskDiff', { params: { id: items[0]?.id ?? '' }, query: {} })).patch.match(
          /^\+([0-9a-f-]{36})$/m,
        )?.[1] ?? ''
      );
    };
    const first = await create(repository, { name: 'cached-1' });
    expect([first.setup, await logOf(first.id)]).toMatchObject([
      { state: 'passed', reason: null },
      expect.stringContaining('what the set-up left is kept for others'),
    ]);
    const second = await create(repository, { name: 'cached-2' });
    expect([second.state, second.setup.reason, idIn(second)]).toEqual([
      'ready',
      expect.stringContaining('was not run: scripts, lock files'),
      idIn(first),
    ]);
    expect(await logOf(second.id)).not.toContain('init runs');
    expect(`${await inTask()}\n`).toBe(idIn(first));
    await client.call('environmentRecreate', { params: { id: first.id } });
    const anew = await settledEnvironment(client, first.id);
    expect(idIn(anew)).not.toBe(idIn(second));
    expect(`${await inTask()}\n`).toBe(idIn(anew));
    const fresh = await inTask('--no-cache');
    expect(`${fresh}\n`).not.toBe(idIn(anew));
    expect(`${await inTask()}`).toBe(fresh);
    const forgotten = await create(repository, { name: 'cached-3', noCache: true });
    expect(idIn(forgotten)).not.toBe(`${fresh}\n`);
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

  it('has its refusals in three lines: names, backends and bases that are not there, a name that is taken, a project that has some', async () => {
    const repository = await project('refused', 'true');
    for (const [args, code] of [
      [['env', 'show', 'nobody'], 3],
      [['env', 'create', '--project', repository, '--backend', 'nothing'], 2],
      [['env', 'create', '--project', repository, '--base', 'nowhere'], 2],
      [['env', 'create', '--project', repository, '--name', 'fails'], 8],
      [['project', 'remove', 'set-up'], 8],
    ] as const) {
      const answer = await place.cli(args);
      expect([answer.code, answer.stderr.trim().split('\n').length]).toEqual([code, 3]);
    }
    expect((await place.cli(['env', 'rename', 'set-up', 'fails'])).stderr).toContain('orrery env rename set-up fails-1');
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

describe('an environment of its own on other backends', () => {
  it.each(hasBubblewrap() ? ['bubblewrap', 'local'] : ['local'])('lives the same life on %s', async (backend) => {
    const { conduct } = commandsOn(place, () => client);
    const repository = await project(`on-${backend}`, 'echo set-up > "$HOME/done"');
    const made = await create(repository, { name: backend, backend });
    expect([made.state, made.backend, made.setup.state]).toEqual(['ready', backend, 'passed']);
    const first = await conduct('cat "$HOME/done"; echo work > work.txt', { environment: backend });
    expect(textOf(await eventsOf(client, first.id))).toBe('set-up\n');
    for (const verb of ['environmentStop', 'environmentStart'] as const) {
      await client.call(verb, { params: { id: made.id } });
      await settledEnvironment(client, made.id);
    }
    const { id } = await client.call('environmentFork', { params: { id: made.id }, body: { name: `${backend}-copy` } });
    expect(await settledEnvironment(client, id)).toMatchObject({ state: 'ready', backend });
    const second = await conduct('cat work.txt "$HOME/done"', { environment: `${backend}-copy` });
    expect(textOf(await eventsOf(client, second.id))).toBe('work\nset-up\n');
  });

  it('whose set-up runs when the node is stopped in order has a failed set-up afterwards, and nothing of it goes on', async () => {
    const repository = await project('in-order', 'echo begun; sleep 600');
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'in-order' } });
    await settledEnvironment(client, id, ({ setup }) => setup.state === 'running');
    await life.stop();
    life = await place.up();
    client = place.client(life);
    expect(await settledEnvironment(client, id)).toMatchObject({ state: 'failed', setup: { state: 'failed' } });
    expect(processesOf(place.folder, [life.pid]).filter(({ command }) => command.includes('sleep 600'))).toEqual([]);
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
