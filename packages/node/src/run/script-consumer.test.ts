import { describe, expect, it } from 'vitest';
import { scriptConsumer } from './script-consumer.ts';

const where = { attempt: 1, stage: 'before', round: 0 } as const;
const ended = { code: 0 } as never;

type Shown = { readonly text: string; readonly output: { text: string; bytes: number } };

/** Feeds an output in pieces of a size. `restart`: the node dies after each piece and goes on from what was recorded. */
function shown(bytes: Uint8Array, { size, restart }: { size: number; restart: boolean }): Shown {
  let consumer = scriptConsumer(where, { stdout: 0, stderr: 0, state: null });
  let text = '';
  const show = (bodies: readonly unknown[]): void => {
    for (const body of bodies) text += (body as { text: string }).text;
  };
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + size);
    const { bodies, offset } = consumer.push('stdout', piece);
    show(bodies);
    at += piece.length;
    // A restart within a character gives the next piece its first bytes again, so that it is longer than they are.
    const state: unknown = JSON.parse(JSON.stringify(consumer.state()));
    if (!restart || at === bytes.length) continue;
    consumer = scriptConsumer(where, { stdout: offset, stderr: 0, state });
    show(consumer.push('stdout', bytes.subarray(offset, at)).bodies);
  }
  const { bodies, outcome } = consumer.end(ended);
  show(bodies);
  return { text, output: { text: outcome.output.text, bytes: outcome.output.bytes } };
}

const outputs: Readonly<Record<string, Uint8Array>> = {
  'characters of one to four bytes': Buffer.from('aé€😀 – ü߿ࠀ￿𐀀􏿿 z'),
  'a byte order mark at the start and later': Buffer.from('﻿a﻿b'),
  'bytes that are no characters': Buffer.from([
    0x61, 0x80, 0xc3, 0x28, 0xf8, 0xe0, 0x80, 0x80, 0xed, 0xa0, 0x80, 0xf4, 0x90, 0xff, 0xc0, 0xaf, 0xe2, 0x82, 0x41,
  ]),
  'an end within a character': Buffer.from('cut 😀').subarray(0, -1),
};

describe('the output of a script', () => {
  for (const [what, bytes] of Object.entries(outputs)) {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    for (const restart of [false, true])
      it(`${what} is the same in whatever pieces it comes${restart ? ', with a restart after each' : ''}`, () => {
        for (let size = 1; size <= 6; size++)
          expect(shown(bytes, { size, restart }), `pieces of ${size}`).toEqual({ text, output: { text, bytes: bytes.length } });
      });
  }

  it('two streams do not end each other’s characters', () => {
    const consumer = scriptConsumer(where, { stdout: 0, stderr: 0, state: null });
    const offsets = [...Buffer.from('€')].flatMap((byte) =>
      (['stdout', 'stderr'] as const).map((stream) => consumer.push(stream, Uint8Array.of(byte)).offset),
    );
    expect(offsets).toEqual([0, 0, 0, 0, 3, 3]);
  });
});
