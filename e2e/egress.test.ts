/** What an environment reaches, changed from the command line while its task runs. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@orrery/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandsOn } from './support/commands.ts';
import { placeOfSuite } from './support/place.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const place = placeOfSuite();
let client: Client;
let nodeUrl = '';
let server: Server;
let host = '';

beforeAll(async () => {
  // Answers slowly and without an end, so that a connection is open for as long as somebody lets it.
  server = createServer((_request, response) => {
    response.write('the first word\n');
    const timer = setInterval(() => response.write('and another\n'), 200);
    response.once('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const life = await place.up();
  nodeUrl = life.url;
  client = place.client(life);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const { send } = commandsOn(place, () => client);

it('a program that was refused goes on when the host is allowed, and is cut off when it is denied', async () => {
  const curl = `curl -sSN --fail --noproxy "" -x "$HTTP_PROXY" http://${host}/`;
  const script = `until ${curl}; do code=$?; [ $code = 22 ] || break; echo refused; sleep 0.5; done; echo "ended with $code"`;
  const id = await send(script);
  await printed(client, id, 'refused');
  const allowed = await place.cli(['egress', 'allow', id, host]);
  expect([allowed.code, allowed.stdout]).toEqual([0, expect.stringMatching(/allow\s+127\.0\.0\.1:\d+\s+the operator/)]);
  await printed(client, id, 'and another');
  const listed = await place.cli(['egress', 'list', id, '--json']);
  expect(listed.envelope().result).toMatchObject({ taskId: id, connections: 1 });
  const denied = await place.cli(['egress', 'deny', id, host]);
  expect([denied.code, denied.stdout]).toEqual([0, expect.stringContaining('1 connection ended.')]);
  await taskEnd(client, id);
  const events = await eventsOf(client, id);
  // 18: the rest of the answer did not come.
  expect(textOf(events)).toMatch(/refused\n[^]*the first word\n(and another\n)+[^]*ended with 18\n$/);
  const [address, port] = host.split(':');
  expect(bodiesOf(events, 'egress.refused')).toEqual([
    { kind: 'egress.refused', host: address, port: Number(port), reason: 'no rule allows it' },
  ]);
  expect(bodiesOf(events, 'egress.changed').map(({ decision }) => decision)).toEqual(['allow', 'deny']);
  await waitFor('the end of its environment', async () => {
    const late = await place.cli(['egress', 'allow', id, host]);
    return late.code === 8 && late.stderr.includes('has no open environment') ? true : null;
  });
});

it('a viewer changes nothing, and an operator may deny but not allow', async () => {
  const id = await send('echo here; sleep 300');
  await printed(client, id, 'here');
  const codes: number[] = [];
  for (const scope of ['viewer', 'operator']) {
    const { token } = await client.call('tokenCreate', { body: { name: `egress-${scope}`, scope: scope as 'viewer' } });
    for (const path of ['', '/deny', '/allow']) {
      const url = new URL(`/api/v1/egress/${id}${path}`, nodeUrl);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = path === '' ? null : JSON.stringify({ rule: 'example.com' });
      codes.push((await fetch(url, { headers, method: path === '' ? 'GET' : 'POST', body })).status);
    }
  }
  expect(codes).toEqual([200, 403, 403, 200, 200, 403]);
  await client.call('taskCancel', { params: { id }, body: {} });
  await taskEnd(client, id);
});
