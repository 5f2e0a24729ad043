import type { Screen } from '../../screen.ts';

/** How things are drawn: colours, cells in a line, and with `whole` nothing folded. */
export type Look = { readonly screen: Screen; readonly columns: number; readonly whole?: boolean };
