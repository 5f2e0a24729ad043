import { describe, expect, it } from 'vitest';
import { SESSION_TITLE_CHARS } from './limits.ts';
import { titleOf, titleOfAnswer } from './title.ts';

describe('a title', () => {
  it('is the first line that has a word, on one line and without what a terminal would obey', () => {
    expect(titleOf('\n---\n  look at\tthe \u001b[31mfailing\u202e test \nand more')).toBe('look at the [31mfailing test');
    expect(titleOf('\n...\n')).toBeNull();
  });

  it('is cut between words, within its limit, and never in the middle of a character', () => {
    const long = titleOf('a word '.repeat(50)) ?? '';
    expect([long.length <= SESSION_TITLE_CHARS, long.endsWith('word…') || long.endsWith('a…')]).toEqual([true, true]);
    expect(titleOf('\u{1f600}'.repeat(100))).toBeNull();
    const letters = titleOf(`x${'\u{20000}'.repeat(100)}`) ?? '';
    expect([letters.length <= SESSION_TITLE_CHARS, letters.isWellFormed()]).toEqual([true, true]);
  });

  it('shows no key that was pasted', () => {
    expect(titleOf('use sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 for it')).not.toContain('abcdefghijkl');
  });

  it('is what a model said, without what it puts around it', () => {
    expect(titleOfAnswer('**"Mend the failing test."**\n\nI chose this because …')).toBe('Mend the failing test');
    expect(titleOfAnswer('  ')).toBeNull();
  });
});
