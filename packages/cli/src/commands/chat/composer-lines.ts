import { cellsOf, visible } from './cells.ts';
import type { Composer } from './composer.ts';

/** What is being written, in rows of cells, and where the cursor stands in them. */
export type ComposerRows = { readonly rows: readonly string[]; readonly cursor: { readonly x: number; readonly y: number } };

/** Lays a text out in rows of at most so many cells: broken where the row is full, so that the cursor is where the person expects it. */
export const composerRows = ({ text, cursor }: Composer, cells: number): ComposerRows => {
  const rows: string[] = [];
  let row = '';
  let x = 0;
  let at = { x: 0, y: 0 };
  const next = (): void => {
    rows.push(row);
    [row, x] = ['', 0];
  };
  for (const [place, one] of text.entries()) {
    const shown = one === '\n' ? '' : visible(one);
    const width = cellsOf(shown);
    if (x + width > cells && x > 0) next();
    if (place === cursor) at = { x, y: rows.length };
    if (one === '\n') next();
    else {
      row += shown;
      x += width;
    }
  }
  if (x >= cells) next();
  if (cursor >= text.length) at = { x, y: rows.length };
  rows.push(row);
  return { rows, cursor: at };
};

/** At most so many of the rows, those around the cursor. */
export const aroundCursor = ({ rows, cursor }: ComposerRows, most: number): ComposerRows => {
  if (rows.length <= most) return { rows, cursor };
  const from = Math.max(0, Math.min(rows.length - most, cursor.y - most + 1));
  return { rows: rows.slice(from, from + most), cursor: { x: cursor.x, y: cursor.y - from } };
};
