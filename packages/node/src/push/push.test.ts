import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '@orrery/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
// @ts-expect-error -- it has no types of its own
import untyped from 'http_ece';
import webPush from 'web-push';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { systemRandom } from '../kernel/random.ts';
import { PUSH_BROWSERS } from './limits.ts';
import { createPush, createPushSender, openPushFile, type Push } from './index.ts';

const tls = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../test/tls', name));
const ece = untyped as { decrypt(body: Buffer, how: object): Buffer };
/** Every name is this machine. */
const lookup: LookupFunction = (_host, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);
const ann: Caller = { name: 'browser', scope: 'operator', token: 'tok_ann' };
const bob: Caller = { name: 'browser', scope: 'viewer', token: 'tok_bob' };
const owner: Caller = { name: 'owner', scope: 'owner', token: 'tok_owner' };

type Taken = { readonly path: string; readonly headers: Readonly<Record<string, unknown>>; readonly body: Buffer };

describe('push', () => {
  let service: Server;
  let origin = '';
  let answer: readonly [number, string] = [201, ''];
  let taken: Taken[] = [];
  let directory = '';
  let living: Set<string>;
  let push: Push;
  const receiver = createECDH('prime256v1');
  receiver.generateKeys();
  const secret = randomBytes(16);
  const keys = { p256dh: receiver.getPublicKey('base64url'), auth: secret.toString('base64url') };

  beforeAll(async () => {
    service = createServer({ key: tls('server.key'), cert: tls('server.pem') }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        taken.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(answer[0], { location: `${origin}/elsewhere` }).end(answer[1]);
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    origin = `https://push.egress.test:${(service.address() as AddressInfo).port}`;
  });
  afterAll(() => void service.close());
  const start = (inside = true): Push =>
    createPush({
      file: openPushFile(join(directory, 'push.json'), async () => webPush.generateVAPIDKeys()),
      send: createPushSender({ ca: tls('ca.pem'), lookup, inside }),
      clock: { nowMs: () => 1_000 },
      ids: createIds({ clock: systemClock, random: systemRandom }),
      tokenLives: async (id) => living.has(id),
    });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orrery-push-'));
    living = new Set(['tok_ann', 'tok_bob']);
    answer = [201, ''];
    taken = [];
    push = start();
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const add = (path: string, caller = ann) => push.add({ endpoint: `${origin}${path}`, keys }, caller);

  it('tells a browser which session needs a person, so that only that browser reads it, and signed by this node', async () => {
    const { key } = await push.list(ann);
    await add('/one');
    await push.tell('site-1');
    expect(taken.map(({ path, headers }) => [path, headers['content-encoding'], headers['urgency']])).toEqual([
      ['/one', 'aes128gcm', 'high'],
    ]);
    const [{ headers, body }] = taken as [Taken];
    expect(body.includes('site-1')).toBe(false);
    const text = ece.decrypt(body, { version: 'aes128gcm', privateKey: receiver, authSecret: keys.auth });
    expect(JSON.parse(String(text))).toEqual({ title: 'site-1 needs you' });
    const [, jwt = '', k] = /^vapid t=([^,]+), k=(.+)$/.exec(String(headers['authorization'])) ?? [];
    expect(k).toBe(key);
    const [head, claims, signature] = jwt.split('.') as [string, string, string];
    expect(JSON.parse(String(Buffer.from(claims, 'base64url')))).toMatchObject({ aud: origin });
    const point = Buffer.from(key, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    const own = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
    const signed = { key: own, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it('is over when a service switches to another protocol', async () => {
    await add('/one');
    const others = service.listeners('request');
    service.removeAllListeners('request').on('request', ({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await push.tell('site-1');
    expect((await push.list(ann)).items).toMatchObject([{ error: expect.stringContaining('another protocol') as string }]);
    service.removeAllListeners('request');
    for (const other of others) service.on('request', other as () => void);
  });

  it('keeps its key and the browsers over a start, in a file for the node alone, and shows no address', async () => {
    const made = await add('/secret-path');
    expect(made).toMatchObject({ service: new URL(origin).host, by: 'browser', toldAt: null, error: null });
    expect(await add('/secret-path')).toEqual(made);
    const before = await push.list(ann);
    expect(JSON.stringify(before)).not.toContain('secret-path');
    push = start();
    expect(await push.list(ann)).toEqual(before);
    expect(statSync(join(directory, 'push.json')).mode & 0o777).toBe(0o600);
  });

  it('is a matter of each browser and of the owner', async () => {
    const { id } = await add('/one');
    expect((await push.list(bob)).items).toEqual([]);
    await expect(push.remove(id, bob)).rejects.toMatchObject({ code: 'not_found' });
    await expect(push.try(id, bob)).rejects.toMatchObject({ code: 'not_found' });
    expect((await push.list(owner)).items).toHaveLength(1);
    await push.remove(id, owner);
    await push.tell('site-1');
    expect(taken).toEqual([]);
  });

  it('tells nobody who is not let in any more, and forgets what a service says is gone', async () => {
    await add('/one');
    await add('/two', bob);
    living.delete('tok_ann');
    await push.tell('site-1');
    expect(taken.map(({ path }) => path)).toEqual(['/two']);
    answer = [410, ''];
    await push.tell('site-1');
    expect((await push.list(owner)).items).toEqual([]);
  });

  it('says what a service answered, follows it nowhere, and goes on', async () => {
    const { id } = await add('/one');
    answer = [503, 'busy '.repeat(1_000)];
    expect((await push.try(id, ann)).error).toMatch(/^the push service answered 503: busy/);
    expect((await push.list(ann)).items[0]!.error!.length).toBeLessThan(400);
    answer = [307, ''];
    expect((await push.try(id, ann)).error).toMatch(/answered 307/);
    expect(taken.map(({ path }) => path)).toEqual(['/one', '/one']);
    answer = [201, ''];
    expect(await push.try(id, ann)).toMatchObject({ error: null, toldAt: '1970-01-01T00:00:01.000Z' });
  });

  it('writes to no address of a private network, by name or number', async () => {
    push = start(false);
    const named = await add('/one');
    expect((await push.try(named.id, ann)).error).toMatch(/private network/);
    const { id } = await push.add({ endpoint: 'https://169.254.169.254/x', keys }, ann);
    expect((await push.try(id, ann)).error).toMatch(/private network/);
    expect(taken).toEqual([]);
  });

  it('has room for a number of browsers, and refuses one more', async () => {
    for (let count = 0; count < PUSH_BROWSERS; count++) await add(`/${count}`);
    await expect(add('/more')).rejects.toMatchObject({ code: 'limit_reached' });
    expect((await add('/0')).service).toBe(new URL(origin).host);
  });
});
