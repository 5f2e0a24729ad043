import { describe, expect, it } from 'vitest';
import { inert, inertJson, inertLine } from './inert.ts';

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

describe('JSON of text from outside', () => {
  it('has nothing for a terminal to obey and is the same value', () => {
    const codes = [0x00, 0x07, 0x1b, 0x7f, 0x85, 0x9b, 0x9d, 0x200e, 0x2028, 0x202e, 0x2066, 0x2069, 0xe9, 0x1f600];
    const value = { text: codes.map(character).join('a'), [character(0x9b)]: [null, 1] };
    const text = inertJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(inert(text)).toBe(text);
  });
});
