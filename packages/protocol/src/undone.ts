// What of a session's log is undone: each rewinding takes it back to what it was at an earlier moment, where other rows may
// have been undone before.

/** Rows after `after` and up to `to`, both included where they are rows. */
export type UndoneRange = { readonly after: number; readonly to: number };

/** The undone rows of a log, of its rewindings of the conversation in their order. Pure. */
export const undoneRanges = (
  rewindings: readonly { readonly sequence: number; readonly after: number }[],
): readonly UndoneRange[] => {
  const states: { readonly at: number; readonly ranges: readonly UndoneRange[] }[] = [];
  for (const { sequence, after } of rewindings) {
    const then = states.findLast(({ at }) => at <= after)?.ranges ?? [];
    states.push({ at: sequence, ranges: [...then, { after, to: sequence - 1 }] });
  }
  return states.at(-1)?.ranges ?? [];
};

/** Whether a row of that number is undone. */
export const isUndone = (ranges: readonly UndoneRange[], sequence: number): boolean =>
  ranges.some(({ after, to }) => sequence > after && sequence <= to);
