import { createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { readClientHello } from './client-hello.ts';

/** What a real TLS client sends first. */
const greeting = (options: { servername?: string; maxVersion?: 'TLSv1.2' | 'TLSv1.3' }): Promise<Buffer> =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, rejectUnauthorized: false, ...options }).on(
        'error',
        () => undefined,
      );
    });
  });

describe('a TLS greeting', () => {
  let named: Buffer;
  beforeAll(async () => {
    named = await greeting({ servername: 'shop.example' });
  });

  it('tells its server name, TLS 1.2 and 1.3, or that it has none', async () => {
    expect(readClientHello(named)).toEqual({ kind: 'tls', serverName: 'shop.example' });
    expect(readClientHello(await greeting({ servername: 'old.example', maxVersion: 'TLSv1.2' }))).toEqual({
      kind: 'tls',
      serverName: 'old.example',
    });
    expect(readClientHello(await greeting({}))).toEqual({ kind: 'tls', serverName: null });
  });

  it('needs all of its bytes and no more', () => {
    for (let length = 0; length < named.length; length++)
      expect(readClientHello(named.subarray(0, length))).toEqual({ kind: 'more' });
    expect(readClientHello(Buffer.concat([named, Buffer.from('more')]))).toEqual({ kind: 'tls', serverName: 'shop.example' });
  });

  it('is put together from several records', () => {
    const body = named.subarray(5);
    const record = (part: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part]);
    const pieces = [body.subarray(0, 2), body.subarray(2, 60), body.subarray(60)].map(record);
    expect(readClientHello(Buffer.concat(pieces))).toEqual({ kind: 'tls', serverName: 'shop.example' });
  });

  it('is never more than malformed, whatever its bytes', () => {
    expect(readClientHello(Buffer.from('GET / HTTP/1.1'))).toEqual({ kind: 'not-tls' });
    expect(readClientHello(Buffer.from([22, 9, 9, 0, 1, 1]))).toEqual({ kind: 'malformed' });
    for (let at = 0; at < named.length; at++) {
      const broken = Buffer.from(named);
      broken[at] = (broken[at] ?? 0) ^ 0xff;
      expect(['tls', 'more', 'malformed', 'not-tls']).toContain(readClientHello(broken).kind);
    }
  });
});
