import { describe, expect, it } from 'vitest';
import { userName } from './user-name.ts';

const failing = (code: string) => (): never => {
  throw Object.assign(new Error('no entry'), { code });
};

describe('the name of the user', () => {
  it('is the number where no name belongs to it', () => {
    expect(userName(() => ({ username: 'ada' }), 1000)).toBe('ada');
    expect(userName(failing('ERR_SYSTEM_ERROR'), 23456)).toBe('23456');
    expect(() => userName(failing('ERR_OTHER'), 23456)).toThrow('no entry');
  });
});
