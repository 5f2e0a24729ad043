import { describe, expect, it } from 'vitest';
import { checkBind, isLoopback } from './guard.ts';

describe('where the node may listen', () => {
  it('is loopback, or elsewhere when said aloud', () => {
    expect(['127.0.0.1', '127.9.9.9', 'localhost', '::1'].map(isLoopback)).toEqual([true, true, true, true]);
    expect(['0.0.0.0', '::', '192.168.1.5', '127.evil.example', 'localhost.evil.example'].map(isLoopback)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(() => checkBind({ host: '0.0.0.0', insecureBind: false })).toThrow('does not listen on 0.0.0.0');
    expect(() => checkBind({ host: '0.0.0.0', insecureBind: true })).not.toThrow();
  });
});
