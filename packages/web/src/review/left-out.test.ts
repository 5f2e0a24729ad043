import { describe, expect, it } from 'vitest';
import { isLeftOut, leftOutWords, toggled } from './left-out.ts';

describe('what is left out', () => {
  it('is a file, or changes of it, and is taken back the same way', () => {
    const one = toggled([], 'a', '1-1');
    const two = toggled(one, 'a', '9-9');
    expect(two).toEqual([{ path: 'a', hunks: ['1-1', '9-9'] }]);
    expect([isLeftOut(two, 'a'), isLeftOut(two, 'a', '9-9'), isLeftOut(two, 'b', '9-9')]).toEqual([false, true, false]);
    expect(toggled(toggled(two, 'a', '1-1'), 'a', '9-9')).toEqual([]);
    const whole = toggled(two, 'a');
    expect(whole).toEqual([{ path: 'a' }]);
    expect(isLeftOut(whole, 'a', '5-5')).toBe(true);
    expect(toggled(whole, 'a', '5-5')).toEqual([]);
  });

  it('is said in words', () => {
    expect(leftOutWords([])).toBeNull();
    expect(leftOutWords([{ path: 'a' }, { path: 'b', hunks: ['1-1', '2-2'] }])).toBe('1 file and 2 changes');
  });
});
