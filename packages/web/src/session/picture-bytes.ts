import type { AttachmentPart } from '@orrery/protocol';

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
