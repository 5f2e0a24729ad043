import { expect, it } from 'vitest';
import { inlineBody } from './clip.ts';
import { base64Of, MAX_PICTURE_CHARS, picturesIn } from './pictures.ts';

const dot = 'iVBORw0K';

it('are read as each program writes them, and no other types', () => {
  const { pictures = [] } = picturesIn([
    { type: 'text', text: 'here' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: dot } },
    { type: 'image', data: dot, mimeType: 'image/webp' },
    { type: 'image', data: dot, mimeType: 'image/svg+xml' },
    { type: 'image', source: { type: 'url', url: 'https://elsewhere.test/x.png' } },
  ]);
  expect(pictures.map((one) => [one.mediaType, one.bytes, base64Of(one)])).toEqual([
    ['image/png', 6, dot],
    ['image/webp', 6, dot],
  ]);
  expect(picturesIn([{ type: 'text', text: 'none' }])).toEqual({});
});

it('are said to be there, and not kept, when they are too large or no base64', () => {
  const large = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(MAX_PICTURE_CHARS + 4) };
  const { pictures = [] } = picturesIn([large, { type: 'image', mimeType: 'image/png', data: '"><script>' }]);
  expect(pictures.map(({ locator }) => locator)).toEqual([null, null]);
});

it('are at most ten of one result', () => {
  const many = Array.from({ length: 30 }, () => ({ type: 'image', mimeType: 'image/png', data: dot }));
  expect(picturesIn(many).pictures?.length).toBe(10);
});

it('are not kept by a log that keeps nothing beside', () => {
  const result = { kind: 'tool.result', row: 'a', tool: 'Read', output: '[image]', outputBytes: 7, failed: false } as const;
  const body = { ...result, ...picturesIn([{ type: 'image', mimeType: 'image/png', data: dot }]) };
  expect(inlineBody(body)).toEqual({ ...result, pictures: [{ mediaType: 'image/png', bytes: 6, locator: null }] });
});
