import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ask, createPreviewPlace, refusalOf, toLoopback, type PreviewPlace } from '../../test/preview-place.ts';
import { listAudit } from '../audit/index.ts';
import { PREVIEW_BROWSERS, PREVIEW_LINKS } from './limits.ts';

const ONE = 'env_01j0000000000000000000000a';
const OTHER = 'env_01j0000000000000000000000b';
const AT = { environmentId: ONE, port: 3000 };

let place: PreviewPlace;
afterEach(() => place.close());

describe('who is let in', () => {
  beforeEach(async () => {
    place = await createPreviewPlace();
    await place.serve(AT, (_, response) => response.end('mine'));
    await place.serve({ environmentId: OTHER, port: 3000 }, (_, response) => response.end('others'));
  });

  it('a link lets one browser in, once; its cookie is for that host alone and no script reads it', async () => {
    const { link, origin, problem } = await place.open(ONE, 3000);
    expect(origin).toMatch(/^http:\/\/env-01j0000000000000000000000a-3000\.localhost:\d+$/);
    expect(problem).toBeNull();
    expect((await ask(link, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(401);
    expect((await ask(link, { method: 'HEAD' })).status).toBe(401);
    const entered = await ask(link, { headers: { accept: 'text/html' } });
    expect([entered.status, entered.body.toString()]).toEqual([200, expect.stringContaining('content="0;url=/"')]);
    const [cookie = ''] = entered.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^orrery_preview=[0-9a-f]{64}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect((await ask(link)).status).toBe(401);
    const shown = await ask(`${origin}/`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect([shown.status, shown.body.toString()]).toEqual([200, 'mine']);
  });

  it('without it there is a page that says how, as text for programs', async () => {
    const { origin } = await place.open(ONE, 3000);
    const page = await ask(`${origin}/`, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers['cache-control'], page.body.toString()]).toEqual([
      401,
      'no-store',
      expect.stringContaining(`<code>orrery env preview ${ONE} 3000</code>`),
    ]);
    expect((await ask(`${origin}/`)).body.toString()).toContain(`\`orrery env preview ${ONE} 3000\``);
    const upgrade = await refusalOf(new WebSocket(origin.replace('http', 'ws'), { lookup: toLoopback }));
    expect(upgrade).toBe(401);
  });

  it('one preview does not let into another, nor another port', async () => {
    const { cookie, origin } = await place.enter(ONE, 3000);
    const other = await place.open(OTHER, 3000);
    const elsewhere = await place.open(ONE, 3001);
    for (const at of [other.origin, elsewhere.origin]) expect((await ask(`${at}/`, { headers: { cookie } })).status).toBe(401);
    const key = new URL(other.link).searchParams.get('key') ?? '';
    expect((await ask(`${origin}/.orrery/preview?key=${key}`)).status).toBe(401);
  });

  it.each([
    ['a rebound name', () => 'evil.example'],
    ['another port', (host: string) => host.replace(/:\d+$/, ':1')],
    ['no port', (host: string) => host.replace(/:\d+$/, '')],
    ['a longer name', (host: string) => `a.${host}`],
    ['a name that goes on', (host: string) => host.replace('localhost', 'localhost.evil.example')],
    ['an address', (host: string) => host.replace(/^[^:]+/, '127.0.0.1')],
    ['the loopback name', (host: string) => host.replace(/^[^:]+/, 'localhost')],
  ])('a host that is not exactly a preview is answered with nothing of it: %s', async (_, change) => {
    const { cookie, origin } = await place.enter(ONE, 3000);
    const told = await ask(`${origin}/`, { headers: { cookie, host: change(new URL(origin).host) } });
    expect([told.status, told.body.toString()]).toEqual([421, expect.not.stringContaining('mine')]);
  });

  it('requests of other pages are refused although the cookie came along', async () => {
    const { cookie, origin } = await place.enter(ONE, 3000);
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: origin.replace('3000', '3001') },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' },
    ];
    for (const headers of foreign) expect((await ask(`${origin}/`, { headers: { cookie, ...headers } })).status).toBe(403);
    const socket = new WebSocket(origin.replace('http', 'ws'), {
      lookup: toLoopback,
      headers: { cookie, origin: 'http://evil.example' },
    });
    expect(await refusalOf(socket)).toBe(403);
  });

  it('links and browsers are bounded, and both refusals say so', async () => {
    for (let count = 0; count < PREVIEW_BROWSERS; count++) await place.enter(ONE, 3000);
    const { link } = await place.open(ONE, 3000);
    const full = await ask(link);
    expect([full.status, full.body.toString()]).toEqual([503, expect.stringContaining('browsers look at this preview')]);
    for (let count = 1; count < PREVIEW_LINKS; count++) await place.open(ONE, 3000);
    await expect(place.open(ONE, 3000)).rejects.toMatchObject({ code: 'limit_reached' });
  });

  it('who opened which is on record', async () => {
    await place.open(ONE, 3000);
    expect(await listAudit(place.store.read, { limit: 5 })).toMatchObject([
      { actor: 'token:somebody', action: 'preview.open', subject: ONE, outcome: 'done', detail: { port: 3000 } },
    ]);
  });
});

describe('the connection of a browser', () => {
  beforeEach(async () => {
    place = await createPreviewPlace();
    await place.serve(AT, (_, response) => response.end('mine'));
  });

  it.each([
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(80_000)}\r\n\r\n`, '431'],
    ['an address in place of a path', 'GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n', '400'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', '400'],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n', '400'],
  ])('is refused for %s', async (_, said, status) => {
    const { cookie, origin } = await place.enter(ONE, 3000);
    const { host, port } = new URL(origin);
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    socket.write(said.replace('HOST', host).replace('COOKIE', cookie));
    socket.on('error', () => undefined);
    const answer = text(socket);
    await once(socket, 'data');
    socket.end();
    expect(await answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
