import { describe, expect, it } from 'vitest';
import { asksTerminal, createTerminalFilter, setsClipboard, touchesClipboard, type Sequence } from './terminal-filter.ts';

const sizes = [1, 2, 3, 7, 1000];
const filtered = (drops: (sequence: Sequence) => boolean, text: string, size: number): string => {
  const filter = createTerminalFilter(drops);
  const bytes = Buffer.from(text, 'latin1');
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(filter.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, filter.flush()]).toString('latin1');
};

/** What nobody may lose: text, colours, titles, links, bells, pictures, unfinished and odd things. */
const harmless =
  '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\ \u0007 \u001b]5 \u001b]\u001b[2J ' +
  '\u001bPq#0;2;0;0;0\u001b\\ \u001b(B \u001b[?1049h\u001b[?2004h\u001b[>1u\u001b[<u\u001b[1;24r \u001b7\u001b8 ' +
  `\u001b]0;${'long '.repeat(30)}\u001b\\ \u001b]0;${'cut '.repeat(30)}\u001b[31m \u001b]0;${'cut '.repeat(30)}\u0018` +
  '\u00ff\u009d52;c \u001b[8;24;80t \u001b\u001b[A';

describe('the clipboard', () => {
  const attacks = [
    '\u001b]52;c;c2VjcmV0\u0007',
    '\u001b]52;c;?\u001b\\',
    `\u001b]52;;${'QUJD'.repeat(500)}\u0007`,
    '\u001b]5522;type=write\u0007',
    '\u001b]1337;CopyToClipboard=general\u0007',
    '\u001b]1337;Copy=:c2VjcmV0\u001b\\',
  ];
  it.each(sizes)('is not reached by what a program prints, %i bytes at a time', (size) => {
    for (const attack of attacks) expect(filtered(touchesClipboard, `a${attack}b`, size)).toBe('ab');
    // Wrapped in what a multiplexer would pass on.
    expect(filtered(touchesClipboard, 'a\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\b', size)).not.toContain(']52;');
    expect(filtered(touchesClipboard, `${attacks[0]}${harmless}${attacks[1]}`, size)).toBe(harmless);
  });

  it('is not reached either when the sequence is begun twice, cancelled, or never ended', () => {
    for (const size of sizes) {
      for (const text of [
        '\u001b]0;x\u001b]52;c;eA==\u0007b',
        '\u001b\u001b]52;c;eA==\u0007b',
        '\u001b[31\u001b]52;c;eA==\u0007b',
      ])
        expect(filtered(touchesClipboard, text, size)).not.toContain(']52;');
      expect(filtered(touchesClipboard, 'a\u001b]52;c;eA==', size)).not.toContain('eA');
      expect(filtered(touchesClipboard, 'a\u001b]52;c;eA\u0018b', size)).toBe('ab');
    }
  });
});

describe('a person who permits the clipboard', () => {
  const permitted = (sequence: Sequence): boolean => touchesClipboard(sequence) && !setsClipboard(sequence);

  it.each(sizes)('lets it be set, byte for byte, and never read, %i bytes at a time', (size) => {
    for (const text of ['\u001b]52;c;c2VjcmV0\u0007', '\u001b]52;;aGk=\u001b\\', `\u001b]52;c;${'QUJD'.repeat(500)}\u0007`])
      expect(filtered(permitted, `a${text}b`, size)).toBe(`a${text}b`);
    for (const text of [
      '\u001b]52;c;?\u0007',
      `\u001b]52;${'c'.repeat(80)};?\u0007`,
      '\u001b]52;c;\u0007',
      '\u001b]52;c;eA\u0018',
      '\u001b]5522;type=read\u0007',
      '\u001b]1337;Copy=:c2VjcmV0\u001b\\',
    ])
      expect(filtered(permitted, `a${text}b`, size)).toBe('ab');
  });
});

describe('output that is shown again', () => {
  const questions = [
    '\u001b[c',
    '\u001b[>0c',
    '\u001b[6n',
    '\u001b[?996n',
    '\u001b[?2026$p',
    '\u001b[?u',
    '\u001b[>0q',
    '\u001b[14t',
    '\u001b[18t',
    '\u001b]11;?\u0007',
    '\u001b]4;15;?\u001b\\',
    '\u001b]7501;?\u001b\\',
    '\u001bP+q544e\u001b\\',
    '\u001bP$qm\u001b\\',
  ];
  it.each(sizes)('asks the terminal nothing, %i bytes at a time', (size) => {
    for (const question of questions) expect(filtered(asksTerminal, `a${question}b`, size), JSON.stringify(question)).toBe('ab');
    expect(filtered(asksTerminal, harmless, size)).toBe(harmless);
  });
});
