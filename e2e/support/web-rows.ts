// What stands in a transcript, row by row, and pictures that are small as files and huge when drawn.
import type { Page } from 'playwright-core';
import { crc32 } from 'node:zlib';

/** Texts of all rows that the page has, from the first to the last: a short transcript is there whole. */
export const shownRows = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role="log"] [data-index]')]
    .toSorted((one, other) => Number(one.dataset.index) - Number(other.dataset.index))
    .map((row) => row.innerText.trim())`);

const chunk = (type: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
};

/** A PNG of one grey, one bit for each dot. */
export const hugePicture = (width: number, height: number, deflate: (bytes: Buffer) => Buffer): Buffer => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const rows = Buffer.alloc((Math.ceil(width / 8) + 1) * height);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflate(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
