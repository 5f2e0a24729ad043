import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ask, createPreviewPlace, refusalOf, toLoopback, type Kind, type PreviewPlace } from '../../test/preview-place.ts';

const ONE = 'env_01j0000000000000000000000a';
const AT = { environmentId: ONE, port: 3000 };

let place: PreviewPlace;
afterEach(() => place.close());

describe.each<Kind>(['sockets', 'streams'])('what passes, over %s', (kind) => {
  beforeEach(async () => {
    place = await createPreviewPlace(kind);
  });

  it('a request looks to the program like one from its own machine; nothing of the node comes along', async () => {
    const heard: IncomingMessage[] = [];
    await place.serve(AT, (request, response) => {
      heard.push(request);
      response.end();
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    await ask(`${origin}/a%20b?c=d`, {
      method: 'POST',
      headers: {
        cookie: `theme=dark; ${cookie}; orrery-login=x; id=1`,
        origin,
        referer: `${origin}/page`,
        authorization: `Bearer orr_owner_${'0'.repeat(64)}`,
        connection: 'close, x-hop',
        'x-hop': '1',
        'x-forwarded-for': '9.9.9.9',
        'x-forwarded-host': 'evil.example',
        forwarded: 'for=9.9.9.9',
        te: 'trailers',
        'x-mine': 'kept',
      },
    });
    await ask(`${origin}/`, { headers: { cookie, authorization: 'Basic bWU6aXQ=' } });
    const { host, connection: _, ...headers } = heard[0]?.headers ?? {};
    expect([heard[0]?.url, host, headers]).toEqual([
      '/a%20b?c=d',
      'localhost:3000',
      {
        cookie: 'theme=dark; id=1',
        origin: 'http://localhost:3000',
        referer: 'http://localhost:3000/page',
        'x-mine': 'kept',
        'x-forwarded-proto': 'http',
        'x-forwarded-for': '127.0.0.1',
        'content-length': '0',
      },
    ]);
    expect([heard[1]?.headers.authorization, heard[1]?.headers.cookie]).toEqual(['Basic bWU6aXQ=', undefined]);
  });

  it('an answer is changed only where it names the program’s own address', async () => {
    const places = [
      'http://localhost:3000/x?y#z',
      'http://127.0.0.1:3000',
      'http://localhost:3001/x',
      'https://localhost:3000/',
      '/x',
    ];
    await place.serve(AT, ({ url = '' }, response) => {
      response.writeHead(302, [
        ...['Location', places[Number(url.slice(1))] ?? ''],
        ...['Set-Cookie', 'a=1; Domain=localhost; Path=/'],
        ...['Set-Cookie', 'b=2; HttpOnly'],
        ...['Set-Cookie', 'orrery_preview=stolen'],
        ...['X-Twice', '1', 'X-Twice', '2', 'Connection', 'x-hop', 'X-Hop', '1'],
      ]);
      response.end();
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    const told = await Promise.all(places.map((_, index) => ask(`${origin}/${index}`, { headers: { cookie } })));
    expect(told.map(({ headers }) => headers.location)).toEqual([`${origin}/x?y#z`, `${origin}/`, ...places.slice(2)]);
    expect([told[0]?.headers['set-cookie'], told[0]?.headers['x-twice'], told[0]?.headers['x-hop']]).toEqual([
      ['a=1; Path=/', 'b=2; HttpOnly'],
      '1, 2',
      undefined,
    ]);
  });

  it('bodies go both ways as they come, of any size; HEAD and parts of files are the program’s', async () => {
    const large = Buffer.alloc(8_000_000, 'orrery ');
    await place.serve(AT, (request, response) => {
      if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': '12', 'x-head': 'yes' }).end();
      if (request.headers.range !== undefined)
        return response.writeHead(206, { 'content-range': 'bytes 0-1/9', 'content-length': '2' }).end('ab');
      response.writeHead(200);
      return request.pipe(response);
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    const headers = { cookie };
    const echoed = await ask(`${origin}/`, { method: 'PUT', headers, body: large });
    expect(echoed.body.equals(large)).toBe(true);
    const head = await ask(`${origin}/`, { method: 'HEAD', headers });
    expect([head.headers['content-length'], head.headers['x-head'], head.body.length]).toEqual(['12', 'yes', 0]);
    const part = await ask(`${origin}/`, { headers: { ...headers, range: 'bytes=0-1' } });
    expect([part.status, part.headers['content-range'], part.body.toString()]).toEqual([206, 'bytes 0-1/9', 'ab']);
    // Each piece comes back before the next is sent: neither side is gathered.
    const { host, port } = new URL(origin);
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers: { host, cookie }, agent: false });
    sent.write('one');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(String((await once(answer, 'data'))[0])).toBe('one');
    const rest = text(answer);
    sent.end('two');
    expect(await rest).toBe('two');
  });

  it('events arrive when they are sent, and the program learns that nobody listens any more', async () => {
    const gone = Promise.withResolvers<void>();
    await place.serve(AT, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
      response.on('close', () => gone.resolve());
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    const { host, port } = new URL(origin);
    const sent = request({ host: '127.0.0.1', port, headers: { host, cookie }, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(String((await once(answer, 'data'))[0])).toBe('data: first\n\n');
    sent.on('error', () => undefined).destroy();
    await gone.promise;
  });

  it('an answer that is cut is cut for the browser', async () => {
    await place.serve(AT, (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    await expect(ask(`${origin}/`, { headers: { cookie } })).rejects.toThrow();
  });

  it('WebSockets speak both ways, with the protocol and the origin of the program, and end with it', async () => {
    const server = await place.serve(AT, (_, response) => response.writeHead(426).end('sockets only'));
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'vite-hmr' });
    let origin: string | undefined;
    server.on('upgrade', (request, socket, head) => {
      if (request.url === '/refused') return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
      origin = request.headers.origin;
      sockets.handleUpgrade(request, socket, head, (connection) => {
        connection.send('hello');
        connection.on('message', (said, isBinary) => connection.send(said, { binary: isBinary }));
      });
    });
    const preview = await place.enter(ONE, 3000);
    const dialled = (path: string): WebSocket =>
      new WebSocket(`${preview.origin.replace('http', 'ws')}${path}`, ['vite-hmr'], {
        lookup: toLoopback,
        headers: { cookie: preview.cookie, origin: preview.origin },
      });
    const socket = dialled('/');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    const large = Buffer.alloc(1_000_000, 7);
    socket.send(large);
    expect(((await once(socket, 'message'))[0] as Buffer).equals(large)).toBe(true);
    expect([socket.protocol, origin]).toEqual(['vite-hmr', 'http://localhost:3000']);
    expect(await refusalOf(dialled('/refused'))).toBe(403);
    const closed = once(socket, 'close');
    for (const client of sockets.clients) client.terminate();
    await closed;
  });

  it('a page says that nothing listens yet, and the next look shows the program', async () => {
    const { problem } = await place.open(ONE, 3000);
    expect(problem).toContain('listens on port 3000');
    const { cookie, origin } = await place.enter(ONE, 3000);
    const look = () => ask(`${origin}/`, { headers: { cookie, accept: 'text/html' } });
    const missing = await look();
    expect([missing.status, missing.body.toString()]).toEqual([
      502,
      expect.stringMatching(/http-equiv="refresh" content="3".*No program of the environment .* listens on port 3000\./),
    ]);
    await place.serve(AT, (_, response) => response.end('here'));
    expect((await look()).body.toString()).toBe('here');
    place.stop(AT);
    expect((await look()).status).toBe(502);
  });

  it('programs that end kept connections without a word, or speak no HTTP, are borne', async () => {
    const server = await place.serve(AT, (request, response) => {
      const { socket } = request;
      response.end('answered', () => setImmediate(() => socket.destroy()));
    });
    const { cookie, origin } = await place.enter(ONE, 3000);
    for (let count = 0; count < 20; count++)
      expect((await ask(`${origin}/`, { headers: { cookie } })).body.toString()).toBe('answered');
    server.removeAllListeners('connection').on('connection', (socket) => socket.end('SSH-2.0-x\r\n'));
    server.closeAllConnections();
    const told = await ask(`${origin}/`, { headers: { cookie } });
    expect([told.status, told.body.toString()]).toEqual([502, expect.stringContaining('did not answer')]);
    server.removeAllListeners('connection').on('connection', (socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
    });
    const switched = await ask(`${origin}/`, { headers: { cookie } });
    expect([switched.status, switched.body.toString()]).toEqual([502, expect.stringContaining('did not answer')]);
  });
});
