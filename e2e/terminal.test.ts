/** Commands and shells in open environments: streams and exit codes as they are, and a person's terminal by tmux. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Client } from '@orrery/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOn } from './support/commands.ts';
import { placeOfSuite, ROOT } from './support/place.ts';
import { printed, taskEnd, waitFor } from './support/wait.ts';

const place = placeOfSuite();
let client: Client;
const tasks: string[] = [];
beforeAll(async () => {
  client = place.client(await place.up());
});
const { send } = commandsOn(place, () => client);

/** A task whose environment stays open. */
const openOn = async (backend: string): Promise<string> => {
  const id = await send('echo open; sleep 600', { backend });
  await printed(client, id, 'open');
  tasks.push(id);
  return id;
};
afterAll(async () => {
  for (const id of tasks) {
    await client.call('taskCancel', { params: { id }, body: {} });
    await taskEnd(client, id);
  }
});

describe.each(['sandbox', 'local'])('a command on %s', (backend) => {
  let id = '';
  beforeAll(async () => {
    id = await openOn(backend);
  });
  const exec = (script: string, input?: string | Buffer) => place.cli(['env', 'exec', id, '--', 'sh', '-c', script], { input });

  it('hands on streams and exit code', async () => {
    const answer = await exec('echo out; echo err >&2; exit 7');
    expect([answer.code, answer.stdout, answer.stderr]).toEqual([7, 'out\n', expect.stringMatching(/^err\n/)]);
    const { code } = await exec('true');
    expect(code).toBe(0);
  });

  it('gets its whole input, byte for byte, and its end', async () => {
    const input = Buffer.alloc(3_000_000, 'a line of input\n');
    const answer = await exec('cat', input);
    expect([answer.code, answer.stdout.length, answer.stdout === input.toString(), answer.stderr]).toEqual([
      0,
      3_000_000,
      true,
      '',
    ]);
  });

  it('runs in the environment: its checkout, its home, its proxy', async () => {
    const { stdout } = await exec(
      'pwd; echo $HOME; echo ${HTTPS_PROXY%%:*}; curl -s -o /dev/null -w "%{http_connect}" https://example.com',
    );
    expect(stdout).toMatch(/^\/\S+\n\/\S+environments\/env_\S+\/home\nhttp\n403$/);
  });

  it('is measured with what else runs there', async () => {
    const answer = await place.cli(['env', 'stats', id, '--json']);
    expect(answer.envelope().result).toMatchObject({ processes: expect.any(Number), memoryBytes: expect.any(Number) });
    expect(answer.envelope().result?.['diskBytes']).toBeGreaterThan(0);
    expect(Number(answer.envelope().result?.['processes'])).toBeGreaterThan(0);
  });
});

const tmux = ((): string | null => {
  try {
    return execFileSync('sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
})();

describe.skipIf(tmux === null)('a shell, seen by a person (needs tmux)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-tmux-'));
  const run = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...place.env, TERM: 'xterm-256color' },
    });
  const screen = (pane: string): string => run('capture-pane', '-p', '-t', pane);
  const cli = (words: string): string => `'${process.execPath}' '${join(ROOT, 'packages/cli/src/main.ts')}' ${words}`;
  const start = (name: string, words: string): void =>
    void run('new-session', '-d', '-s', name, '-x', '100', '-y', '30', `${cli(words)}; echo "left with $?"; sleep 600`);
  const seen = (pane: string, what: RegExp): Promise<string> =>
    waitFor(`${what} on the screen of ${pane}`, () => (what.test(screen(pane)) ? screen(pane) : null), 60_000).catch(
      (thrown: unknown) => {
        throw new Error(`${String((thrown as Error).message)}:\n${screen(pane)}`);
      },
    );
  const type = (pane: string, text: string): void => void run('send-keys', '-t', pane, '-l', text);
  const press = (pane: string, key: string): void => void run('send-keys', '-t', pane, key);
  afterAll(() => {
    try {
      run('kill-server');
    } catch {
      // It may have ended with its last session.
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['sandbox', 'local'])('on %s: controlling terminal, leaving, the same screen again', async (backend) => {
    const id = await openOn(backend);
    const [one, two] = [`one-${backend}`, `two-${backend}`];
    start(one, `env shell ${id}`);
    await seen(one, /[$#] *$/m);
    type(one, 'clear; tty; stty size; echo "stays on the screen"');
    press(one, 'Enter');
    await seen(one, /^\/dev\/pts\/\d+\n30 100\nstays on the screen/m);
    press(one, 'C-]');
    await seen(one, /It goes on\./);
    const listed = await place.cli(['env', 'logs', id, '--json']);
    const { items } = listed.envelope().result as { items: { id: string; state: string }[] };
    expect(items.at(-1)).toMatchObject({ state: 'running' });
    start(two, `env shell ${id} --attach ${items.at(-1)?.id ?? ''}`);
    await seen(two, /^\/dev\/pts\/\d+\n30 100\nstays on the screen/m);
    type(two, 'exit 3');
    press(two, 'Enter');
    await seen(two, /left with 3/);
  });
});
