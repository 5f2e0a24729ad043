import { describe, expect, it } from 'vitest';
import { createFrameReader } from './frames.ts';

describe('the frame reader', () => {
  it('reads the same frames from any pieces, with every line end, and drops an unfinished one', () => {
    const text =
      ': hi\r\n\r\nid: 1\r\nevent: hello\r\ndata: {"a":\r\ndata: 1}\r\n\r\nid:2\rdata:x\r\rdata: y\n\nid: 9\ndata: cut';
    const whole = createFrameReader(1000).push(text);
    const reader = createFrameReader(1000);
    const pieces = [...text].flatMap((character) => reader.push(character));
    expect({ whole, pieces }).toEqual({
      whole: [
        { event: 'hello', id: '1', data: '{"a":\n1}' },
        { event: 'message', id: '2', data: 'x' },
        { event: 'message', id: null, data: 'y' },
      ],
      pieces: whole,
    });
  });

  it('refuses a frame above its limit', () => {
    const reader = createFrameReader(100);
    expect(() => ['data: ', 'x'.repeat(60), 'y'.repeat(60)].map((text) => reader.push(text))).toThrow(
      'The node sent an event that is too large.',
    );
  });
});
