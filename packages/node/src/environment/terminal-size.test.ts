import { expect, it } from 'vitest';
import { sizeFor } from './terminal-size.ts';

it('a terminal has the size of its smallest visible viewer, in each direction, and keeps it while nobody looks', () => {
  const large = { columns: 200, rows: 30, visible: true };
  const high = { columns: 90, rows: 60, visible: true };
  const hidden = { columns: 30, rows: 8, visible: false };
  const tiny = { columns: 3, rows: 2, visible: true };
  expect(sizeFor([large, high, hidden, null])).toEqual({ columns: 90, rows: 30 });
  expect(sizeFor([large, tiny])).toEqual({ columns: 20, rows: 5 });
  expect(sizeFor([hidden, null])).toBeNull();
  expect(sizeFor([])).toBeNull();
});
