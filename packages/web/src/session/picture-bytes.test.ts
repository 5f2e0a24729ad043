import { expect, it } from 'vitest';
import { bytesOf } from './picture-bytes.ts';

const here = (given: string, offset: number, nextOffset: number | null) =>
  ({ state: 'here', mediaType: 'image/png', bytes: 6, offset, base64: btoa(given), nextOffset }) as const;

it('puts the parts of a file together, in their order', async () => {
  const parts = { 0: here('abc', 0, 3), 3: here('\u0000\u00ffz', 3, null) };
  const bytes = await bytesOf(async (offset) => parts[offset as keyof typeof parts]);
  expect([...bytes!]).toEqual([97, 98, 99, 0, 255, 122]);
});

it('says that a file is gone, and asks no part twice', async () => {
  expect(await bytesOf(async () => ({ state: 'missing' }))).toBeNull();
  const asked: number[] = [];
  const bytes = await bytesOf(async (offset) => (asked.push(offset), here('abc', offset, 0)));
  expect([bytes?.length, asked]).toEqual([3, [0]]);
});
