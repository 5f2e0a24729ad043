import { expect, it } from 'vitest';
import { createLiveBlock } from './live-block.ts';
import { screenOf } from './screen.ts';

const scene = (isTTY: boolean) => {
  const written: string[] = [];
  const output = { isTTY, columns: 40, write: (text: string) => (written.push(text), true) };
  return { written, block: createLiveBlock(output as never, screenOf(output, { NO_COLOR: '1' })) };
};

it('shows the end of a text, folded to the width and inert, and takes it away again', () => {
  const { written, block } = scene(true);
  block.show('one\u001b[2J two\u0007');
  block.show(`${'x'.repeat(35)}y\n☃${'z'.repeat(33)}w`);
  block.clear();
  block.clear();
  expect(written).toEqual([
    '    one two',
    '\r\u001b[2K',
    `    ${'x'.repeat(35)}\n    y\n    ☃${'z'.repeat(33)}\n    w`,
    `\r\u001b[2K${'\u001b[1A\u001b[2K'.repeat(3)}`,
  ]);
});

it('shows a bounded number of lines, and nothing without a terminal', () => {
  const { written, block } = scene(true);
  block.show(Array.from({ length: 100 }, (_, line) => String(line)).join('\n'));
  expect(written).toEqual([[92, 93, 94, 95, 96, 97, 98, 99].map((line) => `    ${line}`).join('\n')]);
  const plain = scene(false);
  plain.block.show('text');
  plain.block.clear();
  expect(plain.written).toEqual([]);
});
