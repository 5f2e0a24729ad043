import { describe, expect, it } from 'vitest';
import { searchTerms } from './transcript.ts';

describe('the words of a search', () => {
  it('are words, phrases in quotes and beginnings; everything else stands for itself', () => {
    expect(searchTerms('failing "unit test" pars* -x AND scope:s1 *')).toEqual([
      { text: 'failing', prefix: false },
      { text: 'unit test', prefix: false },
      { text: 'pars', prefix: true },
      { text: '-x', prefix: false },
      { text: 'AND', prefix: false },
      { text: 'scope:s1', prefix: false },
    ]);
    expect(searchTerms('a "never closed')).toEqual([
      { text: 'a', prefix: false },
      { text: 'never closed', prefix: false },
    ]);
  });

  it('are refused when there are none, or too many', () => {
    for (const query of ['', '  ', '"" ***', '--- !'])
      expect(() => searchTerms(query)).toThrowError('There is no word to search for.');
    for (const query of ['a '.repeat(17), 'a'.repeat(401)])
      expect(() => searchTerms(query)).toThrowError('That is too much to search for at once.');
  });
});
