import { describe, expect, it } from 'vitest';
import { visible } from './inert.ts';
import { linesOf, pairsOf } from './lines.ts';

const hunk = { oldStart: 5, newStart: 7, lines: [' a', '-b', '-c', '+d', '\\ No newline at end of file', ' e'] };

describe('lines of a hunk', () => {
  it('have the numbers of their own side', () => {
    expect(linesOf(hunk).map(({ before, after, text }) => [before, after, text])).toEqual([
      [5, 7, 'a'],
      [6, null, 'b'],
      [7, null, 'c'],
      [null, 8, 'd'],
      [null, null, 'No newline at end of file'],
      [8, 9, 'e'],
    ]);
  });

  it('stand beside what came in their place', () => {
    expect(pairsOf(linesOf(hunk)).map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ['a', 'a'],
      ['b', 'd'],
      ['c', 'No newline at end of file'],
      ['e', 'e'],
    ]);
  });

  it('hide nothing: what cannot be seen or turns text around is named', () => {
    expect(visible('a\u001b[31m\u202eb\u200bc\td\r')).toBe('a⟨U+001B⟩[31m⟨U+202E⟩b⟨U+200B⟩c\td⟨U+000D⟩');
  });
});
