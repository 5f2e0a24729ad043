import { describe, expect, it } from 'vitest';
import { createFrameReader, encodeCommand, encodeCredit, encodeFrame } from './frames.ts';

const frame = (type: number, id: number, ...payload: number[]): Buffer =>
  Buffer.from([4 + payload.length, 0, 0, 0, type, id, 0, 0, 0, ...payload]);

const said = Buffer.concat([
  frame(0x80, 1, 0x39, 0x30, 0, 0),
  frame(0x82, 1, 1, 0x68, 0x69),
  frame(0x83, 1, 0),
  frame(0x84, 1, 7, 0, 0, 0, 0, 0, 0, 0),
  frame(0x84, 2, 255, 255, 255, 255, 9, 0, 0, 0),
  frame(0x81, 3, 2, 0, 0, 0),
  frame(0x85, 4, 0, 1, 0, 0),
  frame(0x86, 4),
]);

const meant = [
  { kind: 'started', id: 1, pid: 12345 },
  { kind: 'output', id: 1, stream: 1, bytes: Buffer.from('hi') },
  { kind: 'eof', id: 1, stream: 0 },
  { kind: 'exit', id: 1, code: 7, signal: null },
  { kind: 'exit', id: 2, code: null, signal: 9 },
  { kind: 'refused', id: 3, errno: 2 },
  { kind: 'room', id: 4, bytes: 256 },
  { kind: 'input-ended', id: 4 },
];

describe('what a starter says', () => {
  it('is understood wherever the bytes are cut', () => {
    for (let size = 1; size <= said.length; size++) {
      const reader = createFrameReader();
      const frames = [];
      for (let at = 0; at < said.length; at += size) frames.push(...reader.push(said.subarray(at, at + size)));
      expect(frames).toEqual(meant);
    }
  });

  it('is refused when it is no frame: too short, too long, of no known kind, of no stream, cut short', () => {
    const none = [
      Buffer.from([3, 0, 0, 0, 0x86, 0, 0, 0, 0]),
      Buffer.from([0, 0, 2, 0, 0x82, 0, 0, 0, 0]),
      frame(0x87, 1),
      frame(0x83, 1, 2),
      frame(0x80, 1, 1),
    ];
    for (const bytes of none) expect(() => createFrameReader().push(bytes)).toThrow();
  });
});

describe('what a node asks', () => {
  it('is laid out as WIRE.md says', () => {
    const command = {
      program: '/bin/x',
      args: ['a'],
      cwd: '/',
      environment: { N: 'v' },
      input: true,
      livesOn: true,
      memoryBytes: 3 << 20,
    };
    expect(encodeCommand(command)).toEqual(
      Buffer.concat([Buffer.from([5, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]), Buffer.from('/\0/bin/x\0a\0N=v\0')]),
    );
    expect(encodeFrame('credit', 2, encodeCredit(1, 65_536))).toEqual(Buffer.from([9, 0, 0, 0, 5, 2, 0, 0, 0, 1, 0, 0, 1, 0]));
  });

  it('holds no text with a NUL, which would be two', () => {
    const command = { program: '/bin/x', args: ['a\0b'], cwd: '/', environment: {} };
    expect(encodeCommand(command)).toBeNull();
  });
});
