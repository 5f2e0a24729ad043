import { expect, it } from 'vitest';
import { bytesOf, bytesOfDetail, pointsOf } from './picture-bytes.ts';

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

it('puts the pages of a detail together, and reads their base64', async () => {
  const base64 = btoa('\u0000\u00ffpicture');
  const page = (offset: number, nextOffset: number | null) =>
    ({
      state: 'here',
      offset,
      text: base64.slice(offset, nextOffset ?? undefined),
      nextOffset,
      keptBytes: base64.length,
    }) as const;
  expect([...(await bytesOfDetail(async (offset) => page(offset, offset === 0 ? 4 : null)))!].slice(0, 3)).toEqual([0, 255, 112]);
  expect(await bytesOfDetail(async () => ({ state: 'missing' }))).toBeNull();
});

it('reads how many points a picture says that it has, before it is drawn', () => {
  const bytes = (...parts: readonly (string | number)[]) =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...part].map((sign) => sign.charCodeAt(0)) : [part])));
  const png = bytes(0x89, 'PNG\r\n\u001a\n', 0, 0, 0, 13, 'IHDR', 0, 1, 0, 0, 0, 0, 0, 2);
  expect(pointsOf(png)).toBe(131_072);
  expect(pointsOf(bytes('GIF89a', 3, 0, 2, 0))).toBe(6);
  expect(pointsOf(bytes(0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 5, 0, 7, 1, 1))).toBe(35);
  const webp = bytes('RIFF', 0, 0, 0, 0, 'WEBPVP8X', 10, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 4, 0, 0);
  expect(pointsOf(webp)).toBe(50);
  expect([pointsOf(bytes('text')), pointsOf(bytes())]).toEqual([null, null]);
});
