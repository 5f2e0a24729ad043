import { describe, expect, it } from 'vitest';
import { inputStateOf } from './input-journal.ts';

const written = 'intent a 10\ntry a 0 10\ndid a 10\ndone a 10\n';

describe('the state of an input from its journal', () => {
  it.each([
    ['no line', '', { state: 'unwritten' }],
    ['lines of another id', 'intent ab 10\ndone ab 10\n', { state: 'unwritten' }],
    ['the intent alone', 'intent a 10\n', { state: 'unwritten' }],
    ['an attempt without its end', 'intent a 10\ntry a 0 10\n', { state: 'partial', bytes: 0 }],
    ['a first piece done', 'intent a 9000\ntry a 0 4096\ndid a 4096\ntry a 4096 4096\n', { state: 'partial', bytes: 4096 }],
    ['all pieces but no done', 'intent a 10\ntry a 0 10\ndid a 10\n', { state: 'partial', bytes: 10 }],
    ['done', written, { state: 'written' }],
    ['given up before a byte', 'intent a 10\nfail a 0\n', { state: 'unwritten' }],
    ['given up in the middle', 'intent a 9000\ntry a 0 4096\ndid a 4096\nfail a 4096\n', { state: 'partial', bytes: 4096 }],
  ])('%s', (_name, journal, state) => {
    expect(inputStateOf(journal, 'a', true)).toEqual(state);
  });

  it('a torn last line says nothing', () => {
    expect(inputStateOf('intent a 10\ntry a 0 10\ndid a 10\ndone a 1', 'a', true)).toEqual({ state: 'partial', bytes: 10 });
  });

  it('after a reboot a bare intent may have been followed by bytes', () => {
    expect(inputStateOf('intent a 10\n', 'a', false)).toEqual({ state: 'partial', bytes: 0 });
    expect(inputStateOf(written, 'a', false)).toEqual({ state: 'written' });
  });
});
