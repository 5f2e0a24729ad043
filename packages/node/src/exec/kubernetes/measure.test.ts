import { expect, it } from 'vitest';
import { readMeasured } from './measure.ts';

it('what a pod printed of its programs is read whole or is unknown', () => {
  expect(readMeasured('3 8192 20\n')).toEqual({ processes: 3, memoryBytes: 8192, diskBytes: 20_480 });
  expect(readMeasured('0 0 x\n')).toEqual({ processes: 0, memoryBytes: 0, diskBytes: null });
  for (const text of ['', '3', '3 8192', 'sh: not found'])
    expect(readMeasured(text)).toEqual({ processes: null, memoryBytes: null, diskBytes: null });
});
