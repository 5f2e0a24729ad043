// What a file is, by its first bytes. Names are given by people and lie; a program is told what it really gets.

/** Bytes that are looked at. */
export const SNIFFED_BYTES = 4096;

const starts = (bytes: Uint8Array, signature: readonly number[], at = 0): boolean =>
  signature.every((byte, index) => bytes[at + index] === byte);
const ascii = (text: string): readonly number[] => [...text].map((sign) => sign.charCodeAt(0));

/** Signatures of the file formats' own documents; images are those that models take. */
const signatures: readonly { readonly type: string; readonly is: (bytes: Uint8Array) => boolean }[] = [
  { type: 'image/png', is: (bytes) => starts(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { type: 'image/jpeg', is: (bytes) => starts(bytes, [0xff, 0xd8, 0xff]) },
  { type: 'image/gif', is: (bytes) => starts(bytes, ascii('GIF87a')) || starts(bytes, ascii('GIF89a')) },
  { type: 'image/webp', is: (bytes) => starts(bytes, ascii('RIFF')) && starts(bytes, ascii('WEBP'), 8) },
  { type: 'application/pdf', is: (bytes) => starts(bytes, ascii('%PDF-')) },
  { type: 'application/zip', is: (bytes) => starts(bytes, [0x50, 0x4b, 0x03, 0x04]) },
  { type: 'application/gzip', is: (bytes) => starts(bytes, [0x1f, 0x8b]) },
];

/** The media type of a file that begins so; text is UTF-8 without NUL. */
export const mediaTypeOf = (beginning: Uint8Array): string => {
  const bytes = beginning.subarray(0, SNIFFED_BYTES);
  const known = signatures.find(({ is }) => is(bytes));
  if (known !== undefined) return known.type;
  return isText(bytes) ? 'text/plain' : 'application/octet-stream';
};

const isText = (bytes: Uint8Array): boolean => {
  if (bytes.includes(0)) return false;
  try {
    // A character may be cut at the end of what is looked at: `stream` forgives that.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
};

/** Whether models take it as an image. */
export const isImage = (mediaType: string): boolean => mediaType.startsWith('image/');
