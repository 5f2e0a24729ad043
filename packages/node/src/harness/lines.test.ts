import { describe, expect, it } from 'vitest';
import { createLineSplitter, type Line } from './lines.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const from = (offset = 0, skipped = 0, maxLineBytes = 1000) => createLineSplitter({ maxLineBytes, offset, skipped });
const texts = (lines: readonly Line[]): string[] =>
  lines.map((line) => (line.kind === 'line' ? line.text : `too-long ${line.bytes}`));

describe('line splitter', () => {
  it('ends lines at LF and CRLF and keeps an unfinished one back', () => {
    const splitter = from();
    expect(texts(splitter.push(bytes('one\r\ntwo\n\nthr')))).toEqual(['one', 'two', '']);
    expect(splitter.offset()).toBe(10);
    expect(texts(splitter.push(bytes('ee\n')))).toEqual(['three']);
    expect(splitter.offset()).toBe(16);
    expect(splitter.rest()).toBeNull();
  });

  it('gives the same lines for every way the bytes are cut, characters and CRLF included', () => {
    const whole = bytes('grün\r\n日本語\n\u{1f980}x\n');
    const expected = ['grün', '日本語', '🦀x'];
    for (let cut = 0; cut <= whole.length; cut++) {
      const splitter = from();
      expect(texts([...splitter.push(whole.subarray(0, cut)), ...splitter.push(whole.subarray(cut))])).toEqual(expected);
      expect(splitter.offset()).toBe(whole.length);
    }
  });

  it('keeps its own copy of an unfinished line', () => {
    const splitter = from();
    const buffer = bytes('abc');
    splitter.push(buffer);
    buffer.fill(0x7a);
    expect(texts(splitter.push(bytes('\n')))).toEqual(['abc']);
  });

  it('skips a line past the limit to its end, says how long it was, and goes on', () => {
    const splitter = from(0, 0, 8);
    expect(texts(splitter.push(bytes('12345678\n')))).toEqual(['12345678']);
    expect(texts(splitter.push(bytes('12345')))).toEqual([]);
    expect(texts(splitter.push(bytes('6789')))).toEqual([]);
    expect([splitter.offset(), splitter.skipped()]).toEqual([18, 9]);
    expect(texts(splitter.push(bytes('0\nnext\n')))).toEqual(['too-long 10', 'next']);
  });

  it('continues inside a skipped line after a restart', () => {
    const splitter = from(18, 9, 8);
    expect(texts(splitter.push(bytes('0\nnext\n')))).toEqual(['too-long 10', 'next']);
    expect([splitter.offset(), splitter.skipped()]).toEqual([25, 0]);
  });

  it('drops NUL bytes around a line, replaces what is no UTF-8, and gives the rest at the end', () => {
    const splitter = from();
    expect(texts(splitter.push(new Uint8Array([0, 0, 0x61, 0, 0x0a, 0xff, 0x62, 0x0a, 0x63])))).toEqual(['a', '\ufffdb']);
    expect(splitter.rest()).toEqual({ kind: 'line', text: 'c' });
    expect(splitter.offset()).toBe(9);
    expect(splitter.rest()).toBeNull();
  });

  it('holds a ten megabyte line that is below the limit', () => {
    const splitter = from(0, 0, 16 * 1024 * 1024);
    const piece = new Uint8Array(65_536).fill(0x78);
    for (let count = 0; count < 160; count++) expect(splitter.push(piece)).toEqual([]);
    const [line] = splitter.push(bytes('\n'));
    expect(line?.kind === 'line' ? line.text.length : 0).toBe(160 * 65_536);
  });
});
