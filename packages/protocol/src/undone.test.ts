import { describe, expect, it } from 'vitest';
import { isUndone, undoneRanges } from './undone.ts';

const rowsLeft = (rewindings: { sequence: number; after: number }[], rows: number): number[] => {
  const ranges = undoneRanges(rewindings);
  return Array.from({ length: rows }, (_, index) => index + 1).filter((sequence) => !isUndone(ranges, sequence));
};

describe('what of a log is undone', () => {
  it('is what came after the checkpoint, up to the rewinding', () => {
    expect(rowsLeft([{ sequence: 8, after: 3 }], 10)).toEqual([1, 2, 3, 8, 9, 10]);
  });

  it('comes back when somebody goes to what was there before', () => {
    // At 8 back behind 3; at 12 forward to what was at 7.
    expect(
      rowsLeft(
        [
          { sequence: 8, after: 3 },
          { sequence: 12, after: 7 },
        ],
        13,
      ),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 12, 13]);
  });

  it('stays undone when somebody goes to a moment after it', () => {
    expect(
      rowsLeft(
        [
          { sequence: 8, after: 3 },
          { sequence: 12, after: 9 },
        ],
        13,
      ),
    ).toEqual([1, 2, 3, 8, 9, 12, 13]);
  });

  it('is nothing without a rewinding', () => {
    expect(rowsLeft([], 3)).toEqual([1, 2, 3]);
  });
});
