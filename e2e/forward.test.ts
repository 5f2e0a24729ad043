/** Ports of environments, from this machine to the program inside and to no other. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type { Client } from '@orrery/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCli, type RunningCli } from './support/cli.ts';
import { commandsOn } from './support/commands.ts';
import { placeOfSuite } from './support/place.ts';
import { eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

// The program of the tests is no part of the system.
const toolPaths = [dirname(dirname(process.execPath))];
const place = placeOfSuite({ execution: { options: { sandbox: { toolPaths }, bubblewrap: { toolPaths } } } });
let client: Client;
beforeAll(async () => {
  client = place.client(await place.up());
});
const { send } = commandsOn(place, () => client);

/** Listens, says on which port, and answers each connection with its name and what it was told. */
const server = (name: string, port = '0') =>
  `require('node:net').createServer({ allowHalfOpen: true }, (s) => { let t = ''; s.on('data', (d) => (t += d)).on('end', () => s.end('${name} heard ' + t)).on('error', () => {}) }).listen(${port}, '127.0.0.1', function () { console.log('port ' + this.address().port + '.') })`;
const serving = (name: string, port?: string): string => `exec '${process.execPath}' -e "${server(name, port)}"`;

/** What a port of this machine answers; what was cut short is `cut`. */
const askPort = (port: number, words: string): Promise<string> => {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.end(words);
  return text(socket).catch(() => 'cut');
};

const forward = async (id: string, ports: string): Promise<{ readonly cli: RunningCli; readonly port: number }> => {
  const cli = startCli(['env', 'forward', id, ports], { cwd: place.folder, env: place.env });
  onTestFinished(async () => void (await cli.stop()));
  const line = await waitFor('the port', () => /^✓ 127\.0\.0\.1:(\d+) here/m.exec(cli.said().stdout));
  return { cli, port: Number(line[1]) };
};

const portIn = async (id: string): Promise<number> => {
  await printed(client, id, '.\n');
  return Number(/port (\d+)\./.exec(textOf(await eventsOf(client, id)))?.[1]);
};

const endOf = async (id: string): Promise<void> => {
  await client.call('taskCancel', { params: { id }, body: {} });
  await taskEnd(client, id);
};

describe.each(['local', 'sandbox'])('a port on %s', (backend) => {
  it('is reached from this machine, half-closed connections too, until the command is stopped', async () => {
    const id = await send(serving('the program'), { backend });
    const inside = await portIn(id);
    const { cli, port } = await forward(id, `${inside}:0`);
    expect(await Promise.all(['one', 'two', 'three'].map((word) => askPort(port, word)))).toEqual(
      ['one', 'two', 'three'].map((word) => `the program heard ${word}`),
    );
    const long = 'x'.repeat(3_000_000);
    expect(await askPort(port, long)).toBe(`the program heard ${long}`);
    expect(await cli.stop()).toBe(0);
    await endOf(id);
  });

  it('leads to its own environment and to nobody else', async () => {
    const [mine, other] = [await send(serving('mine'), { backend }), await send(serving('other'), { backend })];
    const otherPort = await portIn(other);
    await portIn(mine);
    const outside = createServer((socket) => socket.end('the machine'));
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void outside.close());
    for (const port of [otherPort, (outside.address() as AddressInfo).port]) {
      const { cli, port: local } = await forward(mine, `${port}:0`);
      expect(await askPort(local, 'anybody')).not.toContain('heard');
      expect(await waitFor('the reason', () => /No program of the environment \S+ listens/.exec(cli.said().stderr))).toBeTruthy();
    }
    const { port } = await forward(other, `${otherPort}:0`);
    expect(await askPort(port, 'you')).toBe('other heard you');
    await Promise.all([endOf(mine), endOf(other)]);
  });
});

it('a port of an environment that is not open is refused with the reason', async () => {
  const id = await send('true');
  await taskEnd(client, id);
  const answer = await place.cli(['env', 'forward', id, '3000:0']);
  expect([answer.code, answer.stderr]).toEqual([8, expect.stringContaining('has no open environment')]);
  const wrong = await place.cli(['env', 'forward', id, 'http']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('PORT:LOCAL')]);
});
