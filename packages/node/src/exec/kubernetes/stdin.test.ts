import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { withEndingInput, withPieces } from './stdin.ts';
import { V5 } from './wire.ts';

const V4 = 'v4.channel.k8s.io';
const by = (protocol: string) => ({ protocol, keeper: '/k' });
const argv = ['cat', '--', 'a b'];
const sh = ['sh', '-c', expect.any(String) as string, 'sh'];

describe('input that ends', () => {
  it('is left alone where the protocol can end it, and where nobody ends it', async () => {
    const bytes = Buffer.from('x');
    expect(await withEndingInput(by(V5), { argv, stdin: bytes, timeoutMs: 1 })).toEqual({ argv, stdin: bytes });
    expect(await withEndingInput(by(V5), { argv, stdin: 'open', timeoutMs: 1 })).toEqual({ argv, stdin: 'open' });
    expect(await withEndingInput(by(V4), { argv, timeoutMs: 1 })).toEqual({ argv });
  });

  it('is counted where the protocol cannot, a short stream too', async () => {
    const bytes = Buffer.from('hello');
    const counted = { argv: [...sh, '5', ...argv], stdin: bytes };
    expect(await withEndingInput(by(V4), { argv, stdin: bytes, timeoutMs: 1 })).toEqual(counted);
    expect(
      await withEndingInput(by(V4), { argv, stdin: Readable.from([Buffer.from('he'), Buffer.from('llo')]), timeoutMs: 1 }),
    ).toEqual(counted);
  });

  it('that is held open goes in pieces, and its end is one', async () => {
    const sent = await withEndingInput(by(V4), { argv, stdin: 'open', timeoutMs: null });
    expect(sent).toEqual({ argv: ['/k', 'feed', '--', ...argv], stdin: 'open' });
    const wire = new PassThrough();
    const process = { stdio: wire, stderr: () => '', ended: Promise.resolve({ exitCode: 0 }), close: () => undefined };
    withPieces(V4, process).stdio.end('hi');
    const whole = Buffer.concat([Buffer.from([2, 0, 0, 0]), Buffer.from('hi'), Buffer.alloc(4)]);
    await expect.poll(() => wire.readableLength).toBe(whole.length);
    expect(wire.read()).toEqual(whole);
    expect(withPieces(V5, process)).toBe(process);
  });

  it('that is long goes in pieces, with an empty one at the end', async () => {
    const long = Buffer.alloc(3_000_000, 7);
    const chunks = Array.from({ length: 30 }, (_, index) => long.subarray(index * 100_000, (index + 1) * 100_000));
    const sent = await withEndingInput(by(V4), { argv, stdin: Readable.from([...chunks, Buffer.alloc(0)]), timeoutMs: 1 });
    expect(sent.argv).toEqual(['/k', 'feed', '--', ...argv]);
    const wire = await buffer(sent.stdin as Readable);
    const pieces: Buffer[] = [];
    let at = 0;
    while (at < wire.length) {
      const size = wire.readUInt32LE(at);
      pieces.push(wire.subarray(at + 4, at + 4 + size));
      at += 4 + size;
    }
    expect([Buffer.concat(pieces).equals(long), pieces.findIndex(({ length }) => length === 0)]).toEqual([
      true,
      pieces.length - 1,
    ]);
  });
});
