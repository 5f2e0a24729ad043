import { terminalSmallest } from '@orrery/protocol';

/** Columns and rows. */
export type TerminalSize = { readonly columns: number; readonly rows: number };

/** What a viewer shows; null: it never said. */
export type ViewerSize = (TerminalSize & { readonly visible: boolean }) | null;

/** The size of a terminal: of the smallest visible viewer, never below the bound; null: nobody looks, so it stays. */
export const sizeFor = (viewers: readonly ViewerSize[]): TerminalSize | null => {
  const visible = viewers.filter((one) => one?.visible === true).map((one) => one as TerminalSize);
  if (visible.length === 0) return null;
  return {
    columns: Math.max(terminalSmallest.columns, Math.min(...visible.map(({ columns }) => columns))),
    rows: Math.max(terminalSmallest.rows, Math.min(...visible.map(({ rows }) => rows))),
  };
};
