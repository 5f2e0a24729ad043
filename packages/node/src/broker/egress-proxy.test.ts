import { createServer as createHttp, type Server as HttpServer } from 'node:http';
import { connect as connectTcp, createServer as createTcp, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import {
  basic,
  grants,
  openBrokerPlace,
  tunnelTo as tunnel,
  type BrokerPlace,
  type PlaceOptions,
} from '../../test/broker-place.ts';
import { EGRESS_PER_ENVIRONMENT } from './limits.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace({ resolve: async (name) => (name.endsWith('.test') ? ['127.0.0.1'] : []), ...options });
  opened.push(place);
  return place;
};
const listening = async (server: Server | HttpServer): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({ close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) });
  return (server.address() as { port: number }).port;
};
const webServer = () =>
  listening(
    createHttp((request, response) =>
      response.end(
        `${request.method} ${request.url} ${request.headers.host} ${request.headers['proxy-authorization'] ?? 'no credentials'} ${request.headers.cookie ?? ''}`,
      ),
    ),
  );
/** TLS without certificates: both sides know a key. */
const psk = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
const shared = Buffer.from('shared');
const tlsServer = () =>
  listening(createTls({ ...psk, pskCallback: () => shared }, (socket) => socket.end('over TLS')) as unknown as Server);

const mint = async (place: BrokerPlace, egress: readonly string[], environmentId = 'env_1') =>
  (await place.broker.tokens.mint(grants(environmentId, { egress }))).egress;

type Told = { readonly head: string; readonly rest: string };

/** Says something to the broker's socket and reads until it closes, or until the head when the tunnel is wanted. */
const say = (place: BrokerPlace, text: string): Promise<Told> =>
  new Promise((resolve) => {
    const socket = connectTcp(place.broker.socketPath, () => socket.write(text));
    let got = '';
    socket.on('data', (part) => (got += part.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () =>
      resolve({ head: got.split('\r\n')[0] ?? '', rest: got.split('\r\n\r\n').slice(1).join('\r\n\r\n') }),
    );
  });

const over = (socket: Socket, servername: string): Promise<string> =>
  new Promise((resolve) => {
    const tls: TLSSocket = connectTls({
      ...psk,
      socket,
      servername,
      checkServerIdentity: () => undefined,
      pskCallback: () => ({ psk: shared, identity: 'test' }),
    });
    let got = '';
    tls.on('data', (part) => (got += part.toString()));
    tls.on('error', (fault: NodeJS.ErrnoException) => resolve(`error ${fault.code ?? fault.message}`));
    tls.on('close', () => resolve(got === '' ? 'closed' : got));
  });

describe('the egress proxy', () => {
  it('passes TLS to an allowed host by its name, and notes host and bytes but no path', async () => {
    const port = await tlsServer();
    const place = await open();
    const token = await mint(place, [`shop.test:${port}`, `127.0.0.1:${port}`]);
    expect(await over(await tunnel(place, `SHOP.test.:${port}`, token), 'shop.test')).toBe('over TLS');
    await expect
      .poll(() => place.audited())
      .toEqual([
        {
          actor: 'task:task-of-env_1',
          action: 'egress.connect',
          subject: `shop.test:${port}`,
          outcome: 'done',
          detail: { reason: null, sent: expect.any(Number), received: expect.any(Number) },
        },
      ]);
    expect(Number((await place.audited())[0]?.detail?.['received'])).toBeGreaterThan(100);
  });

  it('ends a tunnel whose TLS greeting names another server, or none', async () => {
    const port = await tlsServer();
    const place = await open();
    const token = await mint(place, [`shop.test:${port}`, `127.0.0.1:${port}`]);
    for (const [name, reason] of [
      ['evil.test', 'its TLS greeting names another server'],
      ['', 'its TLS greeting names no server'],
    ] as const) {
      expect(await over(await tunnel(place, `shop.test:${port}`, token), name)).not.toBe('over TLS');
      await expect
        .poll(async () => (await place.audited()).at(-1))
        .toMatchObject({ outcome: 'refused', detail: { reason, received: 0 } });
    }
  });

  it('denies what no rule allows, with the host in the reason phrase and the way out in the text', async () => {
    const place = await open();
    const token = await mint(place, ['*.good.test', 'other.test:8443']);
    const connect = (target: string) => say(place, `CONNECT ${target} HTTP/1.1\r\nProxy-Authorization: ${basic(token)}\r\n\r\n`);
    expect(await connect('evil.test:443')).toEqual({
      head: 'HTTP/1.1 403 egress-denied: evil.test (no rule allows it)',
      rest: "Orrery: evil.test:443 is refused: no rule allows it. To allow it, add evil.test to egress in the project's file, or while it runs: orrery egress allow task-of-env_1 evil.test\n",
    });
    for (const target of ['good.test:443', 'x.good.test:22', 'other.test:443', 'x.good.test.evil.test:443'])
      expect((await connect(target)).head).toMatch(/^HTTP\/1.1 403 egress-denied: /);
    for (const target of ['nonsense', 'a b:443', 'x.good.test:0', 'x.good.test:99999', '[nonsense]:443'])
      expect((await connect(target)).head).toMatch(/^HTTP\/1.1 400 /);
  });

  it('asks for its own token, alive and of its own kind', async () => {
    const place = await open();
    const { run, egress } = await place.broker.tokens.mint(grants('env_1', { egress: ['shop.test'] }));
    const connect = (credentials: string) =>
      say(place, `CONNECT shop.test:443 HTTP/1.1\r\n${credentials === '' ? '' : `Proxy-Authorization: ${credentials}\r\n`}\r\n`);
    for (const credentials of ['', basic(run), basic('ore_x'), basic(egress, 'root'), 'Bearer x'])
      expect((await connect(credentials)).head).toContain('HTTP/1.1 407 egress-token-needed: shop.test ');
    await place.broker.tokens.end('env_1');
    expect((await connect(basic(egress))).head).toContain('HTTP/1.1 407 egress-token-needed: shop.test ');
  });

  it('refuses private addresses behind an allowed name, and addresses in any notation', async () => {
    const port = await webServer();
    const place = await open();
    const token = await mint(place, [`shop.test:${port}`, 'localhost:1']);
    const connect = (target: string) => say(place, `CONNECT ${target} HTTP/1.1\r\nProxy-Authorization: ${basic(token)}\r\n\r\n`);
    expect((await connect(`shop.test:${port}`)).rest).toContain('it leads to a private address that no rule names');
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '0',
      '169.254.169.254',
    ]) {
      expect((await connect(`${host}:${port}`)).head).toMatch(/^HTTP\/1.1 403 /);
    }
  });

  it('passes an address that a rule names, in any notation, and obeys the operator’s denial first', async () => {
    const port = await tlsServer();
    const place = await open();
    const token = await mint(place, [`127.0.0.1:${port}`]);
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]'])
      expect(await over(await tunnel(place, `${host}:${port}`, token), '')).toBe('over TLS');
    const strict = await open({ egressDeny: () => ['127.0.0.1', 'shop.test'] });
    const other = await mint(strict, [`127.0.0.1:${port}`, 'shop.test']);
    await expect(tunnel(strict, `127.0.0.1:${port}`, other)).rejects.toThrow('HTTP/1.1 403 egress-denied: 127.0.0.1');
    expect((await say(strict, `CONNECT shop.test:443 HTTP/1.1\r\nProxy-Authorization: ${basic(other)}\r\n\r\n`)).rest).toContain(
      'the operator denies it',
    );
  });

  it('passes plain HTTP without its own credentials, with the host of the target', async () => {
    const port = await webServer();
    const place = await open();
    const token = await mint(place, [`shop.test:${port}`, `127.0.0.1:${port}`]);
    const ask = (target: string) =>
      say(
        place,
        `GET ${target} HTTP/1.1\r\nHost: liar.test\r\nProxy-Authorization: ${basic(token)}\r\nCookie: a=b\r\nConnection: close\r\n\r\n`,
      );
    const answer = await ask(`http://shop.test:${port}/path?q=1`);
    expect(answer.head).toBe('HTTP/1.1 200 OK');
    expect(answer.rest).toContain(`GET /path?q=1 shop.test:${port} no credentials a=b`);
    for (const target of ['http://evil.test/', `http://shop.test:${port}@evil.test/`, 'http://shop.test%00@evil.test/'])
      expect((await ask(target)).head).toContain('HTTP/1.1 403 egress-denied: evil.test ');
    expect((await ask(`http://someone:secret@shop.test:${port}/path`)).rest).toContain(
      `GET /path shop.test:${port} no credentials a=b`,
    );
    expect((await ask('http://evil.test/')).head).toContain('HTTP/1.1 403 egress-denied: evil.test ');
    expect((await ask(`https://shop.test:${port}/`)).head).toBe('HTTP/1.1 400 bad-request');
    await expect
      .poll(async () => (await place.audited()).find(({ outcome }) => outcome === 'done'))
      .toMatchObject({ action: 'egress.http', subject: `shop.test:${port}` });
    expect(JSON.stringify(await place.audited())).not.toContain('path');
  });

  it('takes other protocols on other ports', async () => {
    const port = await listening(createTcp((socket) => socket.end('SSH-2.0-server\r\n')));
    const place = await open();
    const token = await mint(place, [`git.test:${port}`, `127.0.0.1:${port}`]);
    const socket = await tunnel(place, `git.test:${port}`, token);
    const told = new Promise((resolve) => socket.once('data', (part) => resolve(part.toString())));
    socket.resume();
    expect(await told).toBe('SSH-2.0-server\r\n');
    socket.destroy();
  });

  it('ends the tunnels of an environment with it, and bounds how many it has', async () => {
    const port = await listening(createTcp(() => undefined));
    const place = await open();
    const token = await mint(place, [`127.0.0.1:${port}`]);
    const held = await Promise.all(
      Array.from({ length: EGRESS_PER_ENVIRONMENT }, () => tunnel(place, `127.0.0.1:${port}`, token)),
    );
    await expect(tunnel(place, `127.0.0.1:${port}`, token)).rejects.toThrow('HTTP/1.1 429 egress-busy: 127.0.0.1');
    const closed = Promise.all(held.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await place.broker.tokens.end('env_1');
    await closed;
  });

  it('takes the next address when the first does not answer', async () => {
    const port = await tlsServer();
    const place = await open({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
    const token = await mint(place, [`shop.test:${port}`, `127.0.0.1:${port}`, `127.0.0.2:${port}`]);
    expect(await over(await tunnel(place, `shop.test:${port}`, token), 'shop.test')).toBe('over TLS');
  });

  it('opens no tunnel for an environment that ends while the name is resolved', async () => {
    const port = await tlsServer();
    let ending: (() => Promise<void>) | null = null;
    const place = await open({ resolve: async () => (await ending?.(), ['127.0.0.1']) });
    const token = await mint(place, [`shop.test:${port}`, `127.0.0.1:${port}`]);
    ending = () => place.broker.tokens.end('env_1');
    await expect(tunnel(place, `shop.test:${port}`, token)).rejects.toThrow('HTTP/1.1 407');
  });

  it('says when a name does not resolve or nobody answers', async () => {
    const place = await open();
    const token = await mint(place, ['nowhere.example', '127.0.0.1:1']);
    const connect = (target: string) => say(place, `CONNECT ${target} HTTP/1.1\r\nProxy-Authorization: ${basic(token)}\r\n\r\n`);
    expect((await connect('nowhere.example:443')).head).toContain('HTTP/1.1 502 egress-unreachable: nowhere.example ');
    await expect(tunnel(place, '127.0.0.1:1', token)).rejects.toThrow('HTTP/1.1 502 egress-unreachable: 127.0.0.1');
  });
});
