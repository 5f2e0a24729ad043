import { describe, expect, it } from 'vitest';
import { createFrameReader, encodeInput, encodeRequest, encodeSize, encodeStreamOffset } from './frames.ts';

const frame = (type: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt8(type, 4);
  return Buffer.concat([head, payload]);
};
const tagged = (tag: number, body: string): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(tag, 0);
  return Buffer.concat([head, Buffer.from(body)]);
};

describe('frames of the keeper socket', () => {
  it('requests are length, type, tag and body in little endian', () => {
    expect(Buffer.from(encodeRequest('attach', 7, encodeStreamOffset('stderr', 0x1_0000_0001))).toString('hex')).toBe(
      '0d00000002' + '07000000' + '02' + '0100000001000000',
    );
    expect(Buffer.from(encodeRequest('resize', 1, encodeSize(120, 40))).toString('hex')).toBe(
      '0800000007' + '01000000' + '7800' + '2800',
    );
    expect(Buffer.from(encodeRequest('input', 2, encodeInput('a:1', Buffer.from('hi')))).toString('hex')).toBe(
      '0a00000004' + '02000000' + '03' + '613a31' + '6869',
    );
  });

  it('frames cut at every byte are read as if they had come whole', () => {
    const wire = Buffer.concat([
      frame(0x80, Buffer.from('{"pid":1}')),
      frame(0x81, tagged(3, '')),
      frame(0x82, tagged(4, '{"code":"range","message":"m"}')),
      frame(0x83, Buffer.concat([Buffer.from([1]), Buffer.from('0500000000000000', 'hex'), Buffer.from('out')])),
      frame(0x84, Buffer.from('020900000000000000', 'hex')),
    ]);
    const whole = createFrameReader().push(wire);
    const reader = createFrameReader();
    const bytewise = [...wire].flatMap((byte) => reader.push(Buffer.from([byte])));
    expect(bytewise).toEqual(whole);
    expect(whole).toEqual([
      { kind: 'hello', body: { pid: 1 } },
      { kind: 'ok', tag: 3, body: null },
      { kind: 'error', tag: 4, code: 'range', message: 'm' },
      { kind: 'output', stream: 'stdout', offset: 5, bytes: Buffer.from('out') },
      { kind: 'eof', stream: 'stderr', offset: 9 },
    ]);
  });

  it('what no keeper sends is refused: an unknown type, a stream that is none, a length beyond the limit', () => {
    expect(() => createFrameReader().push(frame(0x99, Buffer.alloc(0)))).toThrow('type 153');
    expect(() => createFrameReader().push(frame(0x84, Buffer.from('030000000000000000', 'hex')))).toThrow('stream 3');
    expect(() => createFrameReader().push(Buffer.from('ffffffff83', 'hex'))).toThrow('too long');
  });
});
