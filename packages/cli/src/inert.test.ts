import { describe, expect, it } from 'vitest';
import { inert, inertLine } from './inert.ts';

const character = (code: number): string => String.fromCodePoint(code);
const escape = character(0x1b);

describe('text from outside', () => {
  it('cannot move the cursor, clear the screen, set the title, link, or turn the direction', () => {
    const tricks = [
      `${escape}[2J${escape}[1;1H`,
      `${escape}]0;title${character(7)}`,
      `${escape}]8;;http://x${escape}\\`,
      `${escape}c`,
      character(0x9b) + '2J',
      character(0x202e),
      character(0x2066),
      '\b\b',
      '\r',
    ];
    expect(
      tricks
        .map((trick) => inert(`a${trick}b`))
        .map((text) =>
          [...text].filter((one) => (one.codePointAt(0) ?? 0) < 32 || /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/.test(one)),
        ),
    ).toEqual(tricks.map(() => []));
    expect(inert(`a${tricks[0]}b`)).toBe('ab');
  });

  it('keeps lines, tabs and every script', () => {
    expect([inert('a\tb\r\nc é 漢 🙂'), inertLine(' a\n  b\t c ')]).toEqual(['a\tb\nc é 漢 🙂', 'a b c']);
  });
});
