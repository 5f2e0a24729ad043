import { describe, expect, it } from 'vitest';
import { compareListings, EMPTY_LIST, readListing } from './listing.ts';

type Fields = {
  readonly path: string;
  readonly type?: string;
  readonly size?: number;
  readonly ctime?: number;
  readonly target?: string;
};

/** A list as the keeper program writes it. */
const listOf = (...entries: readonly Fields[]): Buffer =>
  Buffer.from(
    `${entries
      .map(({ path, type = 'f', size = 1, ctime = 1, target = '' }) =>
        [path, type, '644', String(size), '5', String(ctime), '77', target, ''].join('\0'),
      )
      .join('')}\0`,
    'latin1',
  );

const changes = (before: Uint8Array, after: Uint8Array) => compareListings(readListing(before), readListing(after));

describe('the list of a tree', () => {
  it('is read with names that are any bytes', () => {
    const entries = readListing(listOf({ path: 'a/\xff\n name', size: 12 }, { path: 'l', type: 'l', target: '../x' }));
    expect([...entries.values()].map(({ path, type, size }) => [path, type, size])).toEqual([
      ['a/\xff\n name', 'f', 12],
      ['l', 'l', 1],
    ]);
    expect(readListing(EMPTY_LIST).size).toBe(0);
  });

  it('that is cut off anywhere is refused: a shorter list would be a deletion', () => {
    const whole = listOf({ path: 'a' }, { path: 'b' });
    for (let length = 0; length < whole.length; length++)
      expect(() => readListing(whole.subarray(0, length))).toThrow(expect.objectContaining({ code: 'path_refused' }));
  });

  it.each(['/etc/passwd', '..', '../x', 'a/../../x', 'a//b', './a', 'a/.', ''])('with the path %j in it is refused', (path) => {
    expect(() => readListing(listOf({ path }))).toThrow(expect.objectContaining({ code: 'path_refused' }));
  });
});

describe('what changed between two lists', () => {
  it('is what is new, what has another stamp, and what is gone: the topmost of it', () => {
    const before = listOf(
      { path: 'same' },
      { path: 'changed' },
      { path: 'd', type: 'd' },
      { path: 'd/e', type: 'd' },
      { path: 'd/e/f' },
    );
    const after = listOf({ path: 'same' }, { path: 'changed', ctime: 2 }, { path: 'new' });
    expect(changes(before, after)).toEqual({ changed: ['changed', 'new'], gone: ['d'] });
  });

  it('takes away first what became something else, with everything that was below it', () => {
    const before = listOf({ path: 'd', type: 'd' }, { path: 'd/f' }, { path: 'x' });
    const after = listOf({ path: 'd', type: 'l', target: '/etc' }, { path: 'x', type: 'd' }, { path: 'x/y' });
    expect(changes(before, after)).toEqual({ changed: ['d', 'x', 'x/y'], gone: ['d', 'x'] });
  });

  it('is everything when nothing is known of before, and nothing is taken away', () => {
    expect(changes(EMPTY_LIST, listOf({ path: 'a' }))).toEqual({ changed: ['a'], gone: [] });
  });

  it('does not take a name for the folder of a longer one', () => {
    const before = listOf({ path: 'a' }, { path: 'ab' }, { path: 'a-b/c' });
    expect(changes(before, EMPTY_LIST)).toEqual({ changed: [], gone: ['a', 'a-b/c', 'ab'] });
  });
});
