import { describe, expect, it } from 'vitest';
import { createRelayReader, encodeRelayFrame, encodeTaken, RELAY, RELAY_DATA } from './relay-frames.ts';

describe('frames of a relay', () => {
  it('are read however they are cut', () => {
    const bytes = Buffer.concat([
      encodeRelayFrame(RELAY.open, 1),
      encodeRelayFrame(RELAY.data, 1, Buffer.from('hello')),
      encodeRelayFrame(RELAY.window, 7, encodeTaken(70_000)),
    ]);
    const read = (step: number) => {
      const reader = createRelayReader();
      const frames = [];
      for (let at = 0; at < bytes.length; at += step) frames.push(...reader.push(bytes.subarray(at, at + step)));
      return frames.map(({ type, id, payload }) => [type, id, payload.toString('hex')]);
    };
    const whole = read(bytes.length);
    expect(whole).toEqual([
      [RELAY.open, 1, ''],
      [RELAY.data, 1, Buffer.from('hello').toString('hex')],
      [RELAY.window, 7, '70110100'],
    ]);
    for (const step of [1, 2, 3, 5, 11]) expect(read(step)).toEqual(whole);
  });

  it('that are none are refused, before anything is kept for them', () => {
    const long = Buffer.alloc(9);
    long.writeUInt32LE(4 + RELAY_DATA + 1, 0);
    expect(() => createRelayReader().push(long)).toThrow(/is none/);
    expect(() => createRelayReader().push(Buffer.alloc(9))).toThrow(/is none/);
  });
});
