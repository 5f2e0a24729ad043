import { describe, expect, it } from 'vitest';
import { exact, visible, withoutStyles } from './inert.ts';
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

  it('shows blank letters and other spaces of what is asked, and takes colours from what was printed', () => {
    expect(exact('rm\u00a0-rf\u3164 /\u{e0041}\n\tnext')).toBe('rm⟨U+00A0⟩-rf⟨U+3164⟩ /⟨U+E0041⟩\n\tnext');
    expect(withoutStyles('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007plain')).toBe('red plain');
  });
});
