import { describe, expect, it } from 'vitest';
import { cellsOf, cutCells, graphemes, visible, visibleOutput, wrapCells } from './cells.ts';
import { edits, emptyComposer, insert, textOf, withText, type Composer, type Edit } from './composer.ts';
import { aroundCursor, composerRows } from './composer-lines.ts';

const FAMILY = '👩‍👩‍👧‍👦';
const after = (text: string, ...names: Edit[]): Composer =>
  names.reduce((so, name) => edits[name](so), withText(emptyComposer, text));
const shown = ({ text, cursor }: Composer): string => `${text.slice(0, cursor).join('')}|${text.slice(cursor).join('')}`;

describe('the text that is being written', () => {
  it('moves and deletes whole characters, however they are made', () => {
    expect(shown(after(`a${FAMILY}e\u0301漢`, 'left'))).toBe(`a${FAMILY}e\u0301|漢`);
    expect(shown(after(`a${FAMILY}e\u0301漢`, 'left', 'backspace'))).toBe(`a${FAMILY}|漢`);
    expect(shown(after(`a${FAMILY}e\u0301漢`, 'left', 'backspace', 'backspace'))).toBe('a|漢');
    expect(textOf(after('ab', 'lineStart', 'delete'))).toBe('b');
  });

  it('joins what combines with what is there', () => {
    const accent = insert(withText(emptyComposer, 'e'), '\u0301');
    expect([accent.text.length, accent.cursor]).toEqual([1, 1]);
  });

  it.each<[Edit[], string]>([
    [['wordLeft'], 'one two-|three\nfour'],
    [['wordLeft', 'wordLeft'], 'one |two-three\nfour'],
    [['lineStart'], '|one two-three\nfour'],
    [['lineStart', 'wordRight'], 'one| two-three\nfour'],
    [['killSpaceWord'], 'one |\nfour'],
    [['killWord'], 'one two-|\nfour'],
    [['killToStart'], '|\nfour'],
    [['killToStart', 'yank'], 'one two-three|\nfour'],
    [['lineStart', 'killToEnd'], '|\nfour'],
    [['killToEnd'], 'one two-three|four'],
    [['down', 'lineStart', 'up'], '|one two-three\nfour'],
    [['down'], 'one two-three\nfour|'],
  ])('does %j in the line of the cursor alone', (names, expected) => {
    expect(shown(after('one two-three\nfour', 'up', 'lineEnd', ...names))).toBe(expected);
  });

  it('keeps the column over lines, and goes nowhere beyond the ends', () => {
    expect(shown(after('long line\nab\nlong line', 'up', 'up'))).toBe('lo|ng line\nab\nlong line');
    const first = after('one', 'lineStart');
    expect(edits.up(first)).toBe(first);
  });
});

describe('rows of cells', () => {
  it('puts the cursor where the person sees it', () => {
    expect(composerRows(withText(emptyComposer, '漢字か'), 4)).toEqual({ rows: ['漢字', 'か'], cursor: { x: 2, y: 1 } });
    expect(composerRows(withText(emptyComposer, 'abcd'), 4)).toEqual({ rows: ['abcd', ''], cursor: { x: 0, y: 1 } });
    expect(composerRows(withText(emptyComposer, 'ab\n'), 4)).toEqual({ rows: ['ab', ''], cursor: { x: 0, y: 1 } });
    expect(composerRows(after('abcdef', 'left', 'left'), 4).cursor).toEqual({ x: 0, y: 1 });
  });

  it('shows the part around the cursor', () => {
    const all = composerRows(withText(emptyComposer, 'a\nb\nc\nd'), 10);
    expect(aroundCursor(all, 2)).toEqual({ rows: ['c', 'd'], cursor: { x: 1, y: 1 } });
  });

  it('wraps at words, breaks what is longer than a line, and never passes the width', () => {
    expect(wrapCells('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrapCells('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
    const mixed = `漢字かな交じり文 ${FAMILY}${FAMILY} plain words and averyveryverylongone `;
    for (const width of [8, 13, 40]) for (const line of wrapCells(mixed, width)) expect(cellsOf(line)).toBeLessThanOrEqual(width);
    expect(wrapCells(mixed, 13).join('').replaceAll(' ', '')).toBe(mixed.replaceAll(' ', ''));
    expect(cellsOf(cutCells(mixed, 9))).toBeLessThanOrEqual(9);
  });

  it('knows characters of several parts', () => {
    expect(graphemes(`x${FAMILY}🇩🇪`)).toEqual(['x', FAMILY, '🇩🇪']);
  });
});

describe('text of programs', () => {
  it('is shown with what a terminal would obey, turn round or hide', () => {
    expect(visible('a\u001b]52;c;eA==\u0007b\u009b2J\u202ec\u200bd\r\ne\tf\u007f')).toBe(
      'a␛]52;c;eA==␇b<U+009B>2J<U+202E>c<U+200B>d\ne    f␡',
    );
    expect(visibleOutput('\u001b[32mgreen\u001b[0m\u001b[2J')).toBe('green␛[2J');
    expect(visible(`${FAMILY} e\u0301`)).toBe(`${FAMILY} e\u0301`);
  });
});
