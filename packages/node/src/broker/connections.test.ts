import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ask,
  basic,
  callOn,
  grants,
  minted,
  openBrokerPlace,
  type BrokerPlace,
  type PlaceOptions,
} from '../../test/broker-place.ts';
import { createConnections, type Connections } from './connections.ts';
import { ENVIRONMENT_CONNECTIONS, UNPROVEN_CONNECTIONS } from './limits.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace({ script: [{ text: 'Hi there.', times: 'forever' }], ...options });
  opened.push(place);
  return place;
};

type Client = { readonly socket: Socket; readonly closed: Promise<string> };

/** A connection that says nothing but `text`; `closed` is all that came on it until its end. */
const connected = async (path: string, text = ''): Promise<Client> => {
  const socket = connect(path);
  let got = '';
  socket.on('data', (part) => (got += part.toString()));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').then(() => got);
  opened.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return { socket, closed };
};
/** So many of them, one after the other: a socket that listens holds only so many that were not accepted yet. */
const many = async (count: number, path: string, text = ''): Promise<Client[]> => {
  const made: Client[] = [];
  while (made.length < count) {
    made.push(await connected(path, text));
    await setImmediate();
  }
  return made;
};
const isOpen = ({ socket }: Client): boolean => !socket.destroyed && !socket.readableEnded;
const call = async (place: BrokerPlace, environmentId: string) =>
  ask(place.broker.socketPath, callOn.anthropic(await minted(place, environmentId)));

describe('connections to the broker that show no token', () => {
  it('of one environment do not keep another from its model', async () => {
    const place = await open();
    const waiting = await many(300, place.broker.socketPath);
    expect(await call(place, 'env_2')).toMatchObject({ status: 200, cut: false });
    expect(waiting.every(isOpen)).toBe(true);
  });

  it('are bounded: the one that waited longest is told so and closed, and whoever has a token gets through', async () => {
    const place = await open();
    const path = place.broker.socketPath;
    const first = await many(50, path);
    const others = await many(UNPROVEN_CONNECTIONS, path);
    for (const { closed } of first) {
      const told = await closed;
      expect(told.split('\r\n')[0]).toBe('HTTP/1.1 503 broker-busy');
      expect(told).toContain('without having shown a token');
    }
    expect(others.every(isOpen)).toBe(true);
    expect(await call(place, 'env_2')).toMatchObject({ status: 200, cut: false });
    expect(place.logged.filter((line) => line.includes('broker.connections.full'))).toHaveLength(1);
  });

  it('have to ask for something within their time, and are told so', async () => {
    const place = await open({ headersMs: 100 });
    const clients = [
      await connected(place.broker.socketPath),
      await connected(place.broker.socketPath, 'POST /models/anthropic/v1/messages HTTP/1.1\r\nHost: b'),
    ];
    for (const { closed } of clients) {
      const told = await closed;
      expect(told).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(told).toContain('did not come in time');
    }
  });

  it('stay so with a token that is none', async () => {
    const place = await open();
    const path = place.broker.socketPath;
    const wrong = await connected(
      path,
      'GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic ZWdyZXNzOm9yZV94\r\n\r\n',
    );
    await once(wrong.socket, 'data');
    await many(UNPROVEN_CONNECTIONS, path);
    expect(await wrong.closed).toMatch(/^HTTP\/1\.1 407 /);
  });
});

describe('connections of an environment', () => {
  it('are bounded, and those of another one are not touched', async () => {
    const place = await open({ resolve: (name) => (name === 'slow.test' ? new Promise(() => undefined) : Promise.resolve([])) });
    const path = place.broker.socketPath;
    const egressToken = async (id: string) => (await place.broker.tokens.mint(grants(id, { egress: ['slow.test'] }))).egress;
    const token = await egressToken('env_1');
    const request = (whose: string) =>
      `CONNECT slow.test:443 HTTP/1.1\r\nHost: slow.test:443\r\nProxy-Authorization: ${basic(whose)}\r\n\r\n`;
    // None of them is over while the name is looked up, and so none is idle.
    const busy = await many(ENVIRONMENT_CONNECTIONS + 1, path, request(token));
    const refused = await Promise.race(busy.map(({ closed }) => closed));
    expect(refused).toMatch(/^HTTP\/1\.1 429 egress-busy: slow\.test \(the environment has \d+ connections in use/);
    expect(busy.filter(isOpen)).toHaveLength(ENVIRONMENT_CONNECTIONS);
    const { run } = await place.broker.tokens.mint(grants('env_2'));
    expect(await ask(path, callOn.anthropic(run))).toMatchObject({ status: 200, cut: false });
  });
});

describe('the register of connections', () => {
  /** A server with the register and small limits; each connection is both of its ends. */
  const openRegister = async (most: { unproven: number; proven: number; perEnvironment: number }) => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-connections-'));
    const connections: Connections = createConnections({ log: { warn: () => undefined }, clock: { nowMs: () => 0 }, most });
    const server = createServer({ allowHalfOpen: true });
    const path = join(folder, 's');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    opened.push({ close: () => (server.close(), rmSync(folder, { recursive: true })) });
    const come = async () => {
      const arrived = once(server, 'connection');
      const client = await connected(path);
      const [socket] = (await arrived) as [Socket];
      socket.on('error', () => undefined);
      connections.opened(socket);
      return { ...client, server: socket };
    };
    return { connections, open: come };
  };

  it('closes an idle connection of the environment itself when it has too many', async () => {
    const { connections, open: come } = await openRegister({ unproven: 9, proven: 9, perEnvironment: 2 });
    const [busy, idle, more] = [await come(), await come(), await come()];
    const over = connections.began(busy.server);
    for (const { server } of [busy, idle]) expect(connections.prove(server, 'env_1')).toBeNull();
    expect(connections.prove(more.server, 'env_1')).toBeNull();
    expect(await idle.closed).toBe('');
    connections.began(more.server);
    const last = await come();
    expect(connections.prove(last.server, 'env_1')).toMatch('2 connections in use');
    over();
    expect(connections.prove(last.server, 'env_1')).toBeNull();
    expect(await busy.closed).toBe('');
    expect([more, last].every(isOpen)).toBe(true);
  });

  it('with all of them taken, closes an idle one of the environment that has most', async () => {
    const { connections, open: come } = await openRegister({ unproven: 9, proven: 3, perEnvironment: 3 });
    const [small, one, two, newcomer] = [await come(), await come(), await come(), await come()];
    expect(connections.prove(small.server, 'env_1')).toBeNull();
    for (const { server } of [one, two]) expect(connections.prove(server, 'env_2')).toBeNull();
    expect(connections.prove(newcomer.server, 'env_3')).toBeNull();
    expect(await one.closed).toBe('');
    expect([small, two, newcomer].every(isOpen)).toBe(true);
    for (const { server } of [small, two, newcomer]) connections.began(server);
    expect(connections.prove((await come()).server, 'env_4')).toMatch('the node has 3 connections in use');
  });
});
