import { stripVTControlCharacters } from 'node:util';
import type { Output, World } from './world.ts';

/** How text looks: the terminal decides, never the meaning. */
export type Screen = {
  readonly columns: number;
  /** Width beyond which a table's last column is cut: none where no person looks. */
  readonly cut: number;
  /** Whether the cursor may be moved. */
  readonly live: boolean;
  dim(text: string): string;
  bold(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  careful(text: string): string;
  added(text: string): string;
  removed(text: string): string;
};

const NARROWEST = 40;

type Look = Pick<Output, 'isTTY' | 'columns'>;

const colourful = (output: Look, env: World['env'], noColor: boolean): boolean => {
  if (noColor || (env['NO_COLOR'] ?? '') !== '') return false;
  if (env['CLICOLOR_FORCE'] !== undefined && env['CLICOLOR_FORCE'] !== '0') return true;
  return output.isTTY && env['TERM'] !== 'dumb';
};

/** The look of one output: `NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb` and the width are honoured. */
export const screenOf = (output: Look, env: World['env'], noColor = false): Screen => {
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      colourful(output, env, noColor) && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  const columns = Number(env['COLUMNS'] ?? '') || output.columns;
  return {
    columns: Math.max(NARROWEST, columns),
    cut: output.isTTY || env['COLUMNS'] !== undefined ? Math.max(NARROWEST, columns) : Number.POSITIVE_INFINITY,
    live: output.isTTY && env['TERM'] !== 'dumb',
    dim: paint(2, 22),
    bold: paint(1, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    careful: paint(33, 39),
    added: paint(32, 39),
    removed: paint(31, 39),
  };
};

/** Columns that a text takes; wide characters count as one, which only shifts a column. */
export const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Cuts plain text to a width, with an ellipsis. */
export const fit = (text: string, width: number): string => {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
};

/**
 * A table without borders: two spaces between columns, the heading dimmed. The last column is cut to the width when it is
 * plain text; nothing else is.
 */
export const tableText = (screen: Screen, headings: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = headings.map((heading, column) => Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[column] ?? ''))));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        if (column < cells.length - 1) return cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
        const before = widths.slice(0, column).reduce((sum, width) => sum + width + 2, 0);
        return widthOf(cell) === cell.length ? fit(cell, Math.max(12, screen.cut - before)) : cell;
      })
      .join('  ')
      .trimEnd();
  return [screen.dim(line(headings)), ...rows.map(line)].join('\n');
};

/** Names and values below each other; rows without a value are left out. */
export const factsText = (screen: Screen, facts: readonly (readonly [string, string | null])[]): string => {
  const kept = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null && fact[1] !== '');
  const width = Math.max(...kept.map(([name]) => name.length));
  return kept.map(([name, value]) => `${screen.dim(name.padEnd(width))}  ${value}`).join('\n');
};
