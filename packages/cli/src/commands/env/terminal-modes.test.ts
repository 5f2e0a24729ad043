import { expect, it } from 'vitest';
import { createTerminalFilter } from '../../terminal-filter.ts';
import { leaves } from './terminal-input.ts';
import { watchModes } from './terminal-modes.ts';

const undoOf = (output: string): string => {
  const modes = watchModes();
  const filter = createTerminalFilter((sequence) => {
    modes.see(sequence);
    return false;
  });
  for (const byte of Buffer.from(output)) filter.push(Uint8Array.of(byte));
  return modes.undo();
};

it('who leaves a program gets the terminal back as it was', () => {
  expect(undoOf('plain \u001b[31mred\u001b[0m')).toBe('');
  expect(undoOf('\u001b[?1049h\u001b[?25l\u001b[?1000;1006h\u001b[>1u\u001b[>4;2m\u001b[2;5r')).toBe(
    '\u001b[<1u\u001b[>4;0m\u001b7\u001b[r\u001b8\u001b[?25h\u001b[?1000l\u001b[?1006l\u001b[?1049l\u001b[0m',
  );
  // A program that took everything back left nothing to take back.
  expect(
    undoOf('\u001b[?1049h\u001b[?25l\u001b[>1u\u001b[>4;2m\u001b[2;5r\u001b[r\u001b[>4m\u001b[<u\u001b[?25h\u001b[?1049l'),
  ).toBe('');
});

it('Ctrl-] leaves in every form in which terminals send it, and nothing else does', () => {
  for (const key of ['\u001d', '\u001b[93;5u', '\u001b[93;5:1u', '\u001b[93:125;69u', '\u001b[27;5;93~', 'x\u001d'])
    expect(leaves(Buffer.from(key)), JSON.stringify(key)).toBe(true);
  for (const key of [']', '\u001b[93;5:3u', '\u001b[93;2u', '\u001b[91;5u', '\u001b]0;x\u0007', '\u001b[A'])
    expect(leaves(Buffer.from(key)), JSON.stringify(key)).toBe(false);
});
