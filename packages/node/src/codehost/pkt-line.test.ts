import { describe, expect, it } from 'vitest';
import { PKT_LINES } from './limits.ts';
import { FLUSH, pktLine, readPktLines } from './pkt-line.ts';

describe('lines of Git’s protocol', () => {
  it('are read as they were written, with the ends of lists', () => {
    const lines = readPktLines(Buffer.from(`${pktLine('one\n')}${FLUSH}${pktLine('')}${pktLine('zwölf')}`));
    expect(lines.map((line) => line?.toString('utf8') ?? null)).toEqual(['one\n', null, '', 'zwölf']);
  });

  it.each(['0003', '0001', '00', 'zzzz', '0009abc', '-004', `${pktLine('a')}x`])('are refused when they are none: %s', (text) => {
    expect(() => readPktLines(Buffer.from(text))).toThrow('not made of lines');
  });

  it.each(['0004', FLUSH, pktLine('a')])('are refused when there are too many, however short: %s', (line) => {
    const bytes = line.length * PKT_LINES;
    expect(readPktLines(Buffer.alloc(bytes, line))).toHaveLength(PKT_LINES);
    expect(() => readPktLines(Buffer.alloc(bytes + line.length, line))).toThrow(`more than ${PKT_LINES} lines`);
  });
});
