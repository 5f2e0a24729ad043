import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { joinStreams } from './join-streams.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Two ends of one connection, either of which may end alone. */
const pair = (): Promise<readonly [Socket, Socket]> =>
  new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true });
    servers.push(server);
    server.listen(0, '127.0.0.1', () => {
      const near = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
      server.once('connection', (far) => resolve([near, far]));
    });
  });

it('passes both ways, and an end of one side leaves the other open', async () => {
  const [client, node] = await pair();
  const [inside, program] = await pair();
  const over = joinStreams(node, inside);
  client.end('a question');
  expect(await text(program)).toBe('a question');
  program.end('an answer, after the question ended');
  expect(await text(client)).toBe('an answer, after the question ended');
  await over;
});

it('ends the other side with a fault of one', async () => {
  const [client, node] = await pair();
  const [inside, program] = await pair();
  const over = joinStreams(node, inside);
  const ended = text(program);
  client.resetAndDestroy();
  expect(await ended).toBe('');
  await over;
});
