import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBothSpawners, keeperBinary, openStarter } from '../../test/both-spawners.ts';
import { endGroupOf, type Command, type Spawner, type StartedCommand } from '../kernel/spawner.ts';
import { createStarter, type Starter } from './index.ts';

const MIB = 1024 * 1024;

const shell = (script: string, over: Partial<Command> = {}): Command => ({
  program: '/bin/sh',
  args: ['-c', script],
  cwd: '/',
  environment: { PATH: '/usr/bin:/bin' },
  ...over,
});

const exited = (code: number | null, signal: number | string | null = null) => ({ kind: 'exited', code, signal });

const readAll = async (started: StartedCommand): Promise<string> => {
  let text = '';
  for await (const bytes of started.stdout) text += String(bytes);
  return text;
};

const lives = (pid: number): boolean => {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return stat !== '' && !/\) [ZX] /.test(stat);
};

const until = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds(); waited += 5) {
    if (waited > 5_000) throw new Error('it did not come to that');
    await sleep(5);
  }
};

type Sleeping = { readonly started: StartedCommand; readonly pids: readonly number[] };

/** A shell with a child that both sleep, and their numbers. */
const sleeping = async (spawner: Spawner, over: Partial<Command> = {}): Promise<Sleeping> => {
  const started = spawner.start(shell('sleep 60 & echo $$ $!; wait', over));
  const line = await new Promise<string>((resolve) => {
    started.stdout.once('data', (bytes: Buffer) => resolve(String(bytes)));
  });
  return { started, pids: line.trim().split(' ').map(Number) };
};

describeBothSpawners('a command', (spawner) => {
  it('is refused memory beyond its bound, and so is what it starts', async () => {
    const script = 'ulimit -d; sh -c "ulimit -d"; ulimit -d unlimited 2>/dev/null; ulimit -d';
    expect(await readAll(spawner.start(shell(script, { memoryBytes: 64 * MIB })))).toMatch(/^65536\n65536\n(65536|unlimited)\n$/);
    const greedy = 'head -c 200000000 /dev/zero | tail -c 150000000 | wc -c';
    expect(Number(await readAll(spawner.start(shell(greedy, { memoryBytes: 64 * MIB }))))).toBeLessThan(150_000_000);
    expect(Number(await readAll(spawner.start(shell(greedy))))).toBe(150_000_000);
  });

  it('has exactly its environment, its folder, its arguments and a session of its own', async () => {
    const script = 'pwd; echo "$1,$2"; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_=; cut -d" " -f6 /proc/$$/stat; echo $$';
    const started = spawner.start(
      shell('', { args: ['-c', script, 'sh', 'a b', ''], cwd: '/usr', environment: { PATH: '/usr/bin:/bin', ONE: 'a\nb=ü' } }),
    );
    const lines = (await readAll(started)).trim().split('\n');
    expect(lines.slice(0, 2)).toEqual(['/usr', 'a b,']);
    expect(lines.slice(2, -2).toSorted()).toEqual(['ONE=a', 'PATH=/usr/bin:/bin', 'b=ü']);
    expect(lines.at(-2)).toBe(lines.at(-1));
  });

  it('has empty input, and signals as they are by default', async () => {
    expect(await readAll(spawner.start(shell('', { program: '/bin/cat', args: [] })))).toBe('');
    const status = await readAll(spawner.start(shell('', { program: '/bin/cat', args: ['/proc/self/status'] })));
    expect(status.match(/^Sig(Blk|Ign):.*$/gm)).toEqual(['SigBlk:\t0000000000000000', 'SigIgn:\t0000000000000000']);
  });

  it('gives its two outputs apart, and its exit code', async () => {
    const started = spawner.start(shell('echo out; echo err >&2; exit 7', { stderr: true }));
    let stderr = '';
    started.stderr?.on('data', (bytes: Buffer) => (stderr += String(bytes)));
    expect([await readAll(started), await started.ended, stderr]).toEqual(['out\n', exited(7), 'err\n']);
  });

  it('takes input larger than any window, and gives it back byte for byte', async () => {
    const started = spawner.start(shell('cat', { input: true }));
    const sent = randomBytes(3 * MIB + 17);
    started.stdin?.end(sent);
    const pieces: Buffer[] = [];
    for await (const bytes of started.stdout) pieces.push(bytes as Buffer);
    expect(Buffer.concat(pieces).equals(sent)).toBe(true);
    expect(await started.ended).toEqual(exited(0));
  });

  it('that reads no more of its input makes the writer fail, and goes on', async () => {
    const started = spawner.start(shell('exec <&-; echo closed; read x; sleep 0.1; exit 3', { input: true }));
    const failed = new Promise((resolve) => started.stdin?.once('error', resolve));
    started.stdin?.write(Buffer.alloc(4 * MIB));
    expect([await failed, await started.ended]).toMatchObject([{ code: 'EPIPE' }, exited(3)]);
  });

  it('whose output nobody takes waits, and loses nothing of it', async () => {
    const started = spawner.start(shell('head -c 4000000 /dev/zero; echo end'));
    await sleep(100);
    expect(started.stdout.readableLength).toBeLessThan(MIB);
    expect((await readAll(started)).length).toBe(4_000_004);
  });

  it('is ended with its whole group', async () => {
    const { started, pids } = await sleeping(spawner);
    started.endGroup();
    expect(await started.ended).toMatchObject({ kind: 'exited', code: null });
    await until(() => !pids.some(lives));
    started.endGroup();
  });

  it('that is not there, or whose folder is not, says so', async () => {
    const endings = [shell('', { program: '/no/such/program' }), shell('', { cwd: '/no/such/folder' })].map(
      (command) => spawner.start(command).ended,
    );
    expect(await Promise.all(endings)).toMatchObject([
      { kind: 'not_started', cause: { code: 'ENOENT' } },
      { kind: 'not_started', cause: { code: 'ENOENT' } },
    ]);
  });

  it('runs beside a hundred others', async () => {
    const answers = Array.from({ length: 100 }, (_, index) => readAll(spawner.start(shell(`echo ${index}`))));
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 100 }, (_, index) => `${index}\n`));
  });

  it('that lives on is let go when it is released, and its end is told all the same', async () => {
    const { started, pids } = await sleeping(spawner, { livesOn: true });
    started.release();
    await sleep(20);
    expect(pids.map(lives)).toEqual([true, true]);
    endGroupOf(pids[0]!);
    expect(await started.ended).toMatchObject({ kind: 'exited', code: null });
  });
});

describe('the starter', () => {
  let folder = '';
  let starter: Starter;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-starter-'));
    starter = openStarter();
  });
  afterEach(async () => {
    await starter.close();
    rmSync(folder, { recursive: true });
  });

  it('is there from the first command on, one for all, with nothing of the node and little memory', async () => {
    expect(starter.pid()).toBeNull();
    await starter.start(shell('true', { environment: { SECRET: 'a-secret-value' } })).ended;
    const pid = starter.pid()!;
    await starter.start(shell('true')).ended;
    const of = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'latin1');
    expect([starter.pid(), of('environ'), of('cmdline').includes('a-secret-value')]).toEqual([pid, '', false]);
    expect(readdirSync(`/proc/${pid}/fd`).length).toBe(5);
    expect(Number(/RssAnon:\s+(\d+)/.exec(of('status'))?.[1])).toBeLessThan(512);
  });

  it('lost: its commands end with all they started, the caller is told, what lives on lives on, another takes its place', async () => {
    const [mortal, lasting] = await Promise.all([sleeping(starter), sleeping(starter, { livesOn: true })]);
    lasting.started.release();
    const lost = starter.pid()!;
    process.kill(lost, 'SIGKILL');
    expect(await mortal.started.ended).toMatchObject({ kind: 'lost', cause: { code: 'keeper_lost' } });
    await until(() => !mortal.pids.some(lives));
    expect(await readAll(starter.start(shell('echo again')))).toBe('again\n');
    expect(starter.pid()).not.toBe(lost);
    expect(lasting.pids.map(lives)).toEqual([true, true]);
    endGroupOf(lasting.pids[0]!);
  });

  it('closed: ends as it does when the node is gone, its commands with their groups, but not what lives on', async () => {
    const [mortal, lasting] = await Promise.all([sleeping(starter), sleeping(starter, { livesOn: true })]);
    lasting.started.release();
    const pid = starter.pid()!;
    await starter.close();
    expect([lives(pid), starter.pid(), lasting.pids.map(lives)]).toEqual([false, null, [true, true]]);
    await until(() => !mortal.pids.some(lives));
    expect(await mortal.started.ended).toMatchObject({ kind: 'lost' });
    endGroupOf(lasting.pids[0]!);
  });

  it('gives a command no descriptor but its three', async () => {
    const listing = starter.start(shell('', { program: '/bin/ls', args: ['/proc/self/fd'] }));
    expect(await readAll(listing)).toBe('0\n1\n2\n3\n');
  });

  it('keeps no program from ending, but one that waits for a command or for the end of the starter', async () => {
    const script = `
      import { createStarter } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
      const starter = createStarter({ binary: () => ${JSON.stringify(keeperBinary())} });
      const start = () => starter.start({ program: '/bin/sh', args: ['-c', 'sleep 0.1'], cwd: '/', environment: { PATH: '/usr/bin:/bin' } });
      console.log((await start().ended).code);
      await starter.close();
      console.log('closed');
      await start().ended;`;
    const program = starter.start(
      shell('', { program: process.execPath, args: ['--input-type=module', '-e', script], environment: {} }),
    );
    expect([await readAll(program), await program.ended]).toEqual(['0\nclosed\n', exited(0)]);
  });

  it('that cannot be had is the error of each command', async () => {
    const none = createStarter({ binary: () => join(folder, 'nothing') });
    expect(await none.start(shell('true')).ended).toMatchObject({ kind: 'lost', cause: { code: 'backend_unavailable' } });
    const foreign = createStarter({ binary: () => '/bin/echo' });
    expect(await foreign.start(shell('true')).ended).toMatchObject({ kind: 'lost', cause: { code: 'keeper_lost' } });
  });

  it('starts no relative program, none with a NUL in a text, and none of more text than a command may have', async () => {
    const commands = [
      shell('', { program: 'sh' }),
      shell('', { cwd: 'usr' }),
      shell('true\0false'),
      shell('x'.repeat(200_000)),
      shell('', { args: Array.from({ length: 50 }, () => 'x'.repeat(100_000)) }),
    ];
    const endings = await Promise.all(commands.map((command) => starter.start(command).ended));
    expect(endings.map((ending) => (ending.kind === 'not_started' ? (ending.cause as { code?: unknown }).code : ending))).toEqual(
      ['ENOENT', 'ENOENT', 'EINVAL', 'E2BIG', 'E2BIG'],
    );
  });

  it('gives all output of a command whose shell has ended but whose child has not, and ends that child when asked', async () => {
    const started = starter.start(shell('(sleep 60; echo late) & echo $!'));
    const pid = await new Promise<number>((resolve) => {
      started.stdout.once('data', (bytes: Buffer) => resolve(Number(String(bytes))));
    });
    await sleep(50);
    started.endGroup();
    expect(await started.ended).toEqual(exited(0));
    await until(() => !lives(pid));
  });
});
