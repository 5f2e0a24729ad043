/** Commands and shells in open environments: streams and exit codes as they are, and a person's terminal by tmux. */
import type { Client } from '@orrery/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOn } from './support/commands.ts';
import { placeOfSuite } from './support/place.ts';
import { hasTmux, panesOfSuite } from './support/tmux.ts';
import { printed, taskEnd } from './support/wait.ts';

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

describe.skipIf(!hasTmux)('a shell, seen by a person (needs tmux)', () => {
  const { start, seen, type, press } = panesOfSuite(place);

  it.each(['sandbox', 'local'])('on %s: controlling terminal, leaving, the same screen again', async (backend) => {
    const id = await openOn(backend);
    const [one, two] = [`one-${backend}`, `two-${backend}`];
    start(one, `env shell ${id}`);
    await seen(one, /[$#] *$/m);
    // The terminal is the controlling one, and jobs are controlled by it.
    type(one, 'clear; tty; stty size </dev/tty; sleep 600 & kill %1; wait %1; echo "stays on the screen"');
    press(one, 'Enter');
    await seen(one, /^\/dev\/pts\/\d+\n30 100\n[^]*stays on the screen/m);
    press(one, 'C-]');
    await seen(one, /It goes on\./);
    const listed = await place.cli(['env', 'logs', id, '--json']);
    const { items } = listed.envelope().result as { items: { id: string; state: string }[] };
    expect(items.at(-1)).toMatchObject({ state: 'running' });
    start(two, `env shell ${id} --attach ${items.at(-1)?.id ?? ''}`);
    await seen(two, /^\/dev\/pts\/\d+\n30 100\n[^]*stays on the screen/m);
    type(two, 'exit 3');
    press(two, 'Enter');
    await seen(two, /left with 3/);
  });
});
