// Pictures that tools give back. On their way through the node a picture's locator is the picture itself, as a `data:`
// address; a session keeps it beside its log, by what it holds, and a log that keeps nothing beside has none.

import type { ToolPicture } from '@orrery/protocol';

/** Types that a browser draws and runs nothing of. */
const DRAWN = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
/** Pictures of one result. */
const MAX_PICTURES = 10;
/** Of one picture, characters of base64: what is longer is not kept, and said to be there. */
export const MAX_PICTURE_CHARS = 8 * 1024 * 1024;

type Part = { readonly type: string; readonly [key: string]: unknown };

const textAt = (value: unknown, name: string): string | null => {
  if (typeof value !== 'object' || value === null) return null;
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  return typeof found === 'string' ? found : null;
};

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** A part of a result as Anthropic writes it (`source`), or as MCP and the Agent Client Protocol do (`data`, `mimeType`). */
const pictureOf = (part: Part): ToolPicture | null => {
  if (part.type !== 'image') return null;
  const said = textAt(part['source'], 'media_type') ?? textAt(part, 'mimeType') ?? textAt(part, 'media_type');
  const data = textAt(part['source'], 'data') ?? textAt(part, 'data');
  const mediaType = DRAWN.find((one) => one === said);
  if (mediaType === undefined || data === null || data === '') return null;
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);
  const whole = data.length <= MAX_PICTURE_CHARS && isBase64(data);
  return { mediaType, bytes, locator: whole ? `data:${mediaType};base64,${data}` : null };
};

/** The pictures among the parts of a result, as a field of its event; none: no field. */
export const picturesIn = (parts: readonly Part[]): { readonly pictures?: ToolPicture[] } => {
  const pictures = parts.map(pictureOf).filter((picture) => picture !== null);
  return pictures.length === 0 ? {} : { pictures: pictures.slice(0, MAX_PICTURES) };
};

/** The base64 of one that is on its way; null: it is not. */
export const base64Of = ({ locator }: ToolPicture): string | null => {
  if (locator?.startsWith('data:') !== true) return null;
  return locator.slice(locator.indexOf(',') + 1);
};
