// Environments of their own where programs run somewhere else: the same life on each such backend.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from './cli.ts';
import { codeOf, commandsOn, verdictOf } from './commands.ts';
import { settledEnvironment, shownEnvironment } from './environments.ts';
import { nothing, settledLeftovers } from './leftovers.ts';
import type { Life } from './life.ts';
import { placeOfSuite, ROOT } from './place.ts';
import { nothingThere, type RemoteSubject } from './remote-tasks.ts';
import { makeRepository } from './repository.ts';
import { eventsOf, printed, taskEnd, textOf, waitFor } from './wait.ts';

const CLI = join(ROOT, 'packages/cli/src/main.ts');

/** What a port of this machine answers; what was cut short is `cut`. */
const askPort = (port: number): Promise<string> => text(connect({ host: '127.0.0.1', port })).catch(() => 'cut');

/** Runs the cases, in their order: each is about what the one before left. */
export const describeRemoteEnvironments = (subject: RemoteSubject): void => {
  describe('an environment of its own', () => {
    const place = placeOfSuite();
    let life: Life;
    let client: Client;
    let repository = '';
    let made: EnvironmentView;
    beforeAll(async () => {
      place.configure(subject.config());
      life = await place.up();
      client = place.client(life);
    });
    const { send, conduct } = commandsOn(place, () => client);

    const exec = (name: string, script: string, input?: string) =>
      place.cli(['env', 'exec', name, '--', 'sh', '-c', script], { input });
    const said = async (name: string, script: string): Promise<string> => {
      const { code, stdout, stderr } = await exec(name, script);
      if (code !== 0) throw new Error(`${script} ended with ${code}: ${stderr}`);
      return stdout;
    };
    const operate = async (verb: string, name: string): Promise<EnvironmentView> => {
      const answer = await place.cli(['env', verb, name, '--json']);
      expect([verb, answer.code, answer.envelope().error?.message]).toEqual([verb, 0, undefined]);
      return shownEnvironment(client, name);
    };
    const files = (environment: EnvironmentView, name: string): string | null => {
      const path = join(environment.workdir ?? '', name);
      return existsSync(path) ? readFileSync(path, 'utf8') : null;
    };

    it('is made, set up in its place, listed, and renamed', async () => {
      repository = makeRepository(place, 'lived-in', {
        init: 'mkdir -p ignored; echo built > ignored/file; echo init >> "$HOME/runs"',
        settings: 'setup: ["echo port $ORRERY_PORT_WEB"]\nports: [web]',
      });
      writeFiles(repository, { '.gitignore': 'ignored\n' });
      commitAll(repository, 'ignores');
      await client.call('projectAdd', { body: { source: repository } });
      const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'first' } });
      made = await settledEnvironment(client, id);
      expect([made.state, made.backend, made.setup.state, made.reason]).toEqual(['ready', subject.backend, 'passed', null]);
      const log = await client.call('environmentSetupLog', { params: { id }, query: { after: 0 } });
      expect(log.text).toContain(`\nport ${made.ports[0]?.port}\n`);
      expect((await place.cli(['env', 'rename', 'first', 'renamed'])).code).toBe(0);
      const { items } = (await place.cli(['env', 'list', '--json'])).envelope().result as { items: EnvironmentView[] };
      expect(items.map(({ name, state, backend }) => [name, state, backend])).toEqual([['renamed', 'ready', subject.backend]]);
    });

    it('runs commands with their streams and exit codes, in its checkout and its home', async () => {
      const answer = await exec('renamed', 'echo out; echo err >&2; exit 7');
      expect([answer.code, answer.stdout, answer.stderr]).toEqual([7, 'out\n', expect.stringMatching(/^err\n/)]);
      expect((await exec('renamed', 'wc -c', 'x'.repeat(1_000_000))).stdout.trim()).toBe('1000000');
      expect(await said('renamed', 'cat ignored/file "$HOME/runs"; git status --porcelain')).toBe('built\ninit\n');
      expect((await place.cli(['env', 'stats', 'renamed', '--json'])).envelope().result).toMatchObject({ processes: 0 });
    });

    it('has a shell with a terminal, for a person', async () => {
      // A terminal of its own for the command, as a person has it; this one does not know its size.
      const command = `'${process.execPath}' '${CLI}' env shell renamed`;
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: place.folder,
        env: { ...place.env, TERM: 'xterm' },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let screen = '';
      child.stdout.on('data', (bytes: Buffer) => (screen += bytes.toString()));
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      await waitFor('a prompt', () => (/[$#] /.test(screen) ? true : null), 60_000);
      child.stdin.write('tty; echo shell > shell.txt; exit 3\r');
      expect(await ended).toBe(3);
      expect(screen).toMatch(/^\/dev\/pts\/\d+\r?$/m);
      expect(await said('renamed', 'cat shell.txt')).toBe('shell\n');
    });

    it('has its ports reached from this machine, and no port that none of its programs listens on', async () => {
      const [port] = made.ports.map((one) => one.port);
      const serving = startCli(['env', 'exec', 'renamed', '--', 'sh', '-c', `set -- ${port} inside; ${subject.server}`], {
        cwd: place.folder,
        env: place.env,
      });
      onTestFinished(async () => void (await serving.stop()));
      const forward = startCli(['env', 'forward', 'renamed', `${port}:0`], { cwd: place.folder, env: place.env });
      onTestFinished(async () => void (await forward.stop()));
      const line = await waitFor('the port', () => /^✓ 127\.0\.0\.1:(\d+) here/m.exec(forward.said().stdout), 60_000);
      await waitFor(
        'the answer of the program',
        async () => ((await askPort(Number(line[1]))) === 'inside' ? true : null),
        60_000,
      );
      expect(await forward.stop()).toBe(0);
      await serving.stop();
      await waitFor(
        'the program has ended',
        async () =>
          (await place.cli(['env', 'stats', 'renamed', '--json'])).envelope().result?.['processes'] === 0 ? true : null,
        60_000,
      );
    });

    it('is copied with what is only in its place so far, and each has its own from then on', async () => {
      await said('renamed', 'echo uncommitted > new.txt; echo home > "$HOME/mine"');
      const { id } = await client.call('environmentFork', { params: { id: 'renamed' }, body: { name: 'copy' } });
      const copy = await settledEnvironment(client, id);
      expect([copy.state, copy.backend, copy.forkedFrom, copy.reason]).toEqual(['ready', subject.backend, made.id, null]);
      expect(await said('copy', 'cat new.txt ignored/file "$HOME/mine"; echo other > new.txt')).toBe(
        'uncommitted\nbuilt\nhome\n',
      );
      expect(await said('renamed', 'cat new.txt')).toBe('uncommitted\n');
    });

    it('is copied from one on another backend, which it leaves as it is', async () => {
      const source = await client.call('environmentCreate', {
        body: { project: repository, name: 'here', backend: 'sandbox' },
      });
      const here = await settledEnvironment(client, source.id);
      expect([here.state, here.backend]).toEqual(['ready', 'sandbox']);
      writeFileSync(join(here.workdir ?? '', 'from-here.txt'), 'from here\n');
      const answer = await place.cli(['env', 'fork', 'here', '--name', 'there', '--backend', subject.backend, '--json']);
      expect([answer.code, answer.envelope().error?.message]).toEqual([0, undefined]);
      const there = await shownEnvironment(client, 'there');
      expect([there.state, there.backend, there.setup.state, there.setup.reason]).toEqual([
        'ready',
        subject.backend,
        'passed',
        null,
      ]);
      // Its set-up ran once more: the machine is another one.
      expect(await said('there', 'cat from-here.txt "$HOME/runs"')).toBe('from here\ninit\ninit\n');
      expect((await shownEnvironment(client, here.id)).state).toBe('ready');
    });

    it('keeps files and home over a stop and a start, and tasks see them', async () => {
      const stopped = await operate('stop', 'renamed');
      expect([stopped.state, files(stopped, 'new.txt'), files(stopped, 'shell.txt')]).toEqual([
        'stopped',
        'uncommitted\n',
        'shell\n',
      ]);
      expect(await codeOf(client.call('terminalOpen', { params: { id: made.id }, body: { tty: false } }))).toBe('conflict');
      expect((await operate('start', 'renamed')).state).toBe('ready');
      const task = await conduct('cat new.txt "$HOME/mine"; echo task > task.txt', { environment: 'renamed' });
      expect([...verdictOf(task), textOf(await eventsOf(client, task.id))]).toEqual(['accepted', null, 'uncommitted\nhome\n']);
      expect(await said('renamed', 'cat task.txt')).toBe('task\n');
    });

    it('is there after the node died, with the task that works in it', async () => {
      const id = await send('echo begun; sleep 3; echo over', { environment: 'renamed' });
      await printed(client, id, 'begun');
      await life.kill();
      life = await place.up();
      client = place.client(life);
      const task = await taskEnd(client, id, 120_000);
      expect([...verdictOf(task), task.attempts, textOf(await eventsOf(client, id))]).toEqual([
        'accepted',
        null,
        1,
        'begun\nover\n',
      ]);
      expect(await said('renamed', 'cat task.txt "$HOME/mine"')).toBe('task\nhome\n');
      expect(await said('copy', 'cat new.txt')).toBe('other\n');
    });

    it('is not deleted over work that only its place has, and begins again from nothing with it saved', async () => {
      await said('copy', 'git add -A; git -c user.name=x -c user.email=x@y commit -qm all; echo precious > precious.txt');
      const refused = await place.cli(['env', 'delete', 'copy']);
      expect([refused.code, (await shownEnvironment(client, 'copy')).state]).toEqual([8, 'ready']);
      expect(await said('copy', 'cat precious.txt')).toBe('precious\n');
      expect((await place.cli(['env', 'delete', 'copy', '--salvage'])).code).toBe(0);
      const anew = await operate('recreate', 'renamed');
      expect([anew.state, anew.id, anew.setup.state]).toEqual(['ready', made.id, 'passed']);
      expect(await said('renamed', 'ls; cat "$HOME/runs"')).toBe('README.md\nignored\nrun.sh\nsrc\ninit\n');
      const { items } = await client.call('salvageList', { query: {} });
      const paths = async (of: string): Promise<readonly string[]> => {
        const { id } = items.find(({ taskId }) => taskId === of) ?? {};
        return (await client.call('salvageShow', { params: { id: id ?? '' } })).paths;
      };
      expect(await paths(made.id)).toEqual(expect.arrayContaining(['new.txt', 'shell.txt', 'task.txt']));
    });

    it('gets ignored files and submodules as the project says, and what an earlier set-up left; the files do not come back', async () => {
      const cached = makeRepository(place, 'cached', {
        init: 'mkdir -p deps; cat /proc/sys/kernel/random/uuid > deps/id',
        settings: 'copy: [.env]\ncache: [deps]\nsubmodules: shallow',
      });
      const library = plainRepository(place.folder, { name: 'library' }).root;
      gitIn(cached, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library');
      writeFiles(cached, { '.gitignore': '.env\ndeps\n' });
      commitAll(cached, 'ignores');
      writeFiles(cached, { '.env': 'HERE=1\n' });
      await client.call('projectAdd', { body: { source: cached } });
      const create = async (name: string): Promise<EnvironmentView> =>
        settledEnvironment(client, (await client.call('environmentCreate', { body: { project: cached, name } })).id);
      expect((await create('cached-1')).setup).toMatchObject({ state: 'passed', reason: null });
      const left = await said('cached-1', 'cat deps/id .env');
      expect(left).toMatch(/^[0-9a-f-]{36}\nHERE=1\n$/);
      const second = await create('cached-2');
      expect([second.state, second.setup.reason]).toEqual(['ready', expect.stringContaining('was not run')]);
      expect(await said('cached-2', 'cat deps/id .env; git status --porcelain')).toBe(left);
      expect(await said('cached-2', 'cd library; git fsck --no-dangling; git status --porcelain; git log --format=%H')).toBe(
        `${gitIn(library, 'log', '--format=%H')}\n`,
      );
      await said('cached-2', 'git add -f .env; git -c user.name=x -c user.email=x@y commit -qm all; echo work > work.txt');
      expect((await place.cli(['env', 'delete', 'cached-2', '--salvage'])).code).toBe(0);
      const { items } = await client.call('salvageList', { query: {} });
      const saved = items.find(({ taskId }) => taskId === second.id);
      expect((await client.call('salvageShow', { params: { id: saved?.id ?? '' } })).paths).toEqual(['work.txt']);
    });

    it('leaves nothing behind when all are deleted', async () => {
      const { items } = await client.call('environmentList', { query: { limit: 200 } });
      for (const { id } of items)
        await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' }, timeoutMs: 120_000 });
      expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
      await nothingThere(subject);
    });
  });
};
