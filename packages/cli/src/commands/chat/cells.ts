// Text in cells of a terminal: what is wide takes two, what combines takes none, and nothing of it is obeyed.

import stringWidth from 'string-width';

const PLAIN = /^[ -~]*$/;

/** What a person takes for one character: a letter with its accents, an emoji with its parts. */
export const graphemes = (text: string): string[] =>
  PLAIN.test(text)
    ? text.split('')
    : Array.from(new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);

/** Cells that plain text takes. */
export const cellsOf = (text: string): number => (PLAIN.test(text) ? text.length : stringWidth(text));

/** Cuts plain text to a number of cells, with an ellipsis. */
export const cutCells = (text: string, cells: number): string => {
  if (cellsOf(text) <= cells) return text;
  let kept = '';
  let used = 0;
  for (const one of graphemes(text)) {
    const width = cellsOf(one);
    if (used + width > cells - 1) break;
    kept += one;
    used += width;
  }
  return cells < 1 ? '' : `${kept}…`;
};

/** Lines of at most so many cells; broken at spaces where there are any. */
export const wrapCells = (text: string, cells: number): string[] => text.split('\n').flatMap((line) => wrapLine(line, cells));

const wrapLine = (line: string, cells: number): string[] => {
  if (cellsOf(line) <= cells) return [line];
  const lines: string[] = [];
  let now = '';
  let used = 0;
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    const width = cellsOf(word.trimEnd());
    if (used > 0 && used + width > cells) {
      lines.push(now.trimEnd());
      [now, used] = ['', 0];
    }
    for (const one of width > cells ? graphemes(word) : [word]) {
      const more = cellsOf(one);
      if (used > 0 && used + cellsOf(one.trimEnd()) > cells) {
        lines.push(now.trimEnd());
        [now, used] = ['', 0];
      }
      now += one;
      used += more;
    }
  }
  return now.trim() === '' && lines.length > 0 ? lines : [...lines, now.trimEnd()];
};

const COLOURS = new RegExp('\\u001b\\[[0-9;:]*m', 'g');
const OBEYED = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]|\\udb40[\\udc00-\\udc7f]',
  'g',
);

/** Everything that a terminal would obey, or that hides or turns text, is shown as what it is; tabs become spaces. */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(OBEYED, (one) => {
      const code = one.codePointAt(0) ?? 0;
      if (code < 0x20) return String.fromCodePoint(0x2400 + code);
      return code === 0x7f ? '␡' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    })
    .replaceAll('\t', '    ');

/** The same for the output of programs, whose colours are left out. */
export const visibleOutput = (text: string): string => visible(text.replace(COLOURS, ''));
