import { expect, it } from 'vitest';
import { blocksOf, spansOf } from './marked.ts';

it('reads headings, lists, code, quotes, tables and words', () => {
  const text = [
    '# What I did',
    'I looked at it,',
    'and mended it.',
    '',
    '- first',
    '  1. below',
    '> a quote',
    '| a | b |',
    '| - | - |',
    '---',
    '```ts',
    '# no heading',
    '```',
    'the end',
  ].join('\n');
  expect(blocksOf(text)).toEqual([
    { kind: 'heading', level: 1, text: 'What I did' },
    { kind: 'words', text: 'I looked at it,\nand mended it.' },
    { kind: 'item', depth: 0, mark: '•', text: 'first' },
    { kind: 'item', depth: 1, mark: '1.', text: 'below' },
    { kind: 'quote', text: 'a quote' },
    { kind: 'table', text: '| a | b |\n| - | - |' },
    { kind: 'line' },
    { kind: 'code', language: 'ts', text: '# no heading' },
    { kind: 'words', text: 'the end' },
  ]);
});

it('takes a fence that is still being written as code', () => {
  expect(blocksOf('so:\n~~~\nconst a')).toEqual([
    { kind: 'words', text: 'so:' },
    { kind: 'code', language: '', text: 'const a' },
  ]);
});

it('finds code and what is strong, and leaves every other sign as it is', () => {
  expect(spansOf('run `a * b` **now**: [x](javascript:alert(1)) <b>')).toEqual([
    { look: 'plain', text: 'run ' },
    { look: 'code', text: 'a * b' },
    { look: 'plain', text: ' ' },
    { look: 'strong', text: 'now' },
    { look: 'plain', text: ': [x](javascript:alert(1)) <b>' },
  ]);
  for (const plain of ['2 ** 3 ** 4', 'a ` b', '**', '``', 'no'])
    expect(spansOf(plain)).toEqual([{ look: 'plain', text: plain }]);
});

it('reads a megabyte of marks that nothing closes at once', () => {
  const from = performance.now();
  for (const piece of ['`` ', '** ', '**`', '# ', '> ', '- ', '```\n~~~~\n']) {
    const text = piece.repeat(1_000_000 / piece.length);
    const blocks = blocksOf(text);
    for (const block of blocks) if ('text' in block) spansOf(block.text);
  }
  expect(performance.now() - from).toBeLessThan(2_000);
});
