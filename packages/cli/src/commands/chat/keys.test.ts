import { describe, expect, it } from 'vitest';
import { keysOf } from './keys.ts';

const edit = (name: string) => [{ kind: 'edit', edit: name }];

describe('keys', () => {
  it.each([
    ['', { return: true }, [{ kind: 'enter' }]],
    ['', { return: true, meta: true }, [{ kind: 'newline' }]],
    ['\n', {}, [{ kind: 'newline' }]],
    ['c', { ctrl: true }, [{ kind: 'leave' }]],
    ['a', { ctrl: true }, edit('lineStart')],
    ['k', { ctrl: true }, edit('killToEnd')],
    ['w', { ctrl: true }, edit('killSpaceWord')],
    ['b', { meta: true }, edit('wordLeft')],
    ['', { leftArrow: true, ctrl: true }, edit('wordLeft')],
    ['', { backspace: true, meta: true }, edit('killWord')],
    ['漢', {}, [{ kind: 'text', text: '漢', alone: true }]],
    ['ab', {}, [{ kind: 'text', text: 'ab', alone: false }]],
    ['z', { ctrl: true }, []],
    ['', { pageUp: true }, [{ kind: 'older' }]],
  ])('%j with %j', (input, key, expected) => {
    expect(keysOf(input, key)).toEqual(expected);
  });
});
