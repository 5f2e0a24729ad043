import { describe, expect, it } from 'vitest';
import { together } from './together.ts';

const there = (data: string | undefined, dataUpdatedAt: number, error: Error | null = null) => ({ data, dataUpdatedAt, error });

describe('several answers as one', () => {
  it('are there when all are', () => {
    expect(together({ one: there('a', 2), other: there(undefined, 0) }).data).toBeUndefined();
    expect(together({ one: there('a', 2), other: there('b', 1) })).toEqual({
      data: { one: 'a', other: 'b' },
      dataUpdatedAt: 1,
      error: null,
    });
  });

  it('stay when one of them could not be asked for again', () => {
    const failed = new Error('away');
    expect(together({ one: there('a', 2), other: there('b', 1, failed) })).toEqual({
      data: { one: 'a', other: 'b' },
      dataUpdatedAt: 1,
      error: failed,
    });
  });
});
