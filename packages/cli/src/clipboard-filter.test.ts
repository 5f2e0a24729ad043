import { expect, it } from 'vitest';
import { createClipboardFilter } from './clipboard-filter.ts';

const filtered = (text: string, size: number): string => {
  const filter = createClipboardFilter();
  const bytes = Buffer.from(text, 'latin1');
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(filter.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, filter.flush()]).toString('latin1');
};

it.each([1, 2, 3, 7, 1000])('the clipboard is not reached by what a program prints, %i bytes at a time', (size) => {
  expect(filtered('a\u001b]52;c;c2VjcmV0\u0007b', size)).toBe('ab');
  expect(filtered('a\u001b]52;c;?\u001b\\b', size)).toBe('ab');
  const plain = '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b]5 \u001b]\u001b]52;c;x\u0007 \u00ff\u001b';
  expect(filtered(plain, size)).toBe(plain.replace('\u001b]52;c;x\u0007', ''));
});
