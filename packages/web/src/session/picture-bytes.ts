import type { AttachmentPart, DetailPage } from '@orrery/protocol';

/** An attachment from its parts; null: it is not kept any more. */
export const bytesOf = async (read: (offset: number) => Promise<AttachmentPart>): Promise<Uint8Array<ArrayBuffer> | null> => {
  const parts: Uint8Array[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const part: AttachmentPart = await read(offset);
    if (part.state === 'missing') return null;
    parts.push(Uint8Array.from(atob(part.base64), (sign) => sign.charCodeAt(0)));
    // A part that moves nowhere would be asked for forever.
    offset = part.nextOffset !== null && part.nextOffset > offset ? part.nextOffset : null;
  }
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
};

/** A picture whose base64 is a detail of a session, from its pages; null: it is not kept any more. */
export const bytesOfDetail = async (read: (offset: number) => Promise<DetailPage>): Promise<Uint8Array<ArrayBuffer> | null> => {
  let base64 = '';
  for (let offset: number | null = 0; offset !== null;) {
    const page: DetailPage = await read(offset);
    if (page.state === 'missing') return null;
    base64 += page.text;
    offset = page.nextOffset !== null && page.nextOffset > offset ? page.nextOffset : null;
  }
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
};

/** Points that are drawn: four bytes of memory each, whatever few bytes describe them. */
export const MAX_POINTS = 40_000_000;

/** How many points a picture says that it has; null: it does not say so where its kind says it. */
export const pointsOf = (bytes: Uint8Array): number | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const is = (at: number, text: string): boolean => [...text].every((sign, place) => bytes[at + place] === sign.charCodeAt(0));
  if (is(1, 'PNG') && bytes.length >= 24) return view.getUint32(16) * view.getUint32(20);
  if (is(0, 'GIF8') && bytes.length >= 10) return view.getUint16(6, true) * view.getUint16(8, true);
  if (is(0, 'RIFF') && is(8, 'WEBP') && bytes.length >= 30) return pointsOfWebp(view, is);
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? pointsOfJpeg(view) : null;
};

const pointsOfWebp = (view: DataView, is: (at: number, text: string) => boolean): number | null => {
  if (is(12, 'VP8X')) return ((view.getUint32(24, true) & 0xffffff) + 1) * ((view.getUint32(26, true) >>> 8) + 1);
  if (is(12, 'VP8 ')) return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
  if (!is(12, 'VP8L')) return null;
  const size = view.getUint32(21, true);
  return ((size & 0x3fff) + 1) * (((size >>> 14) & 0x3fff) + 1);
};

/** Its frame stands behind other segments, each with its length. */
const pointsOfJpeg = (view: DataView): number | null => {
  for (let at = 2; at + 9 < view.byteLength;) {
    const marker = view.getUint16(at);
    if (marker >>> 8 !== 0xff) return null;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return view.getUint16(at + 5) * view.getUint16(at + 7);
    at += 2 + view.getUint16(at + 2);
  }
  return null;
};
