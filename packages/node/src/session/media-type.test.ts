import { describe, expect, it } from 'vitest';
import { isImage, mediaTypeOf, SNIFFED_BYTES } from './media-type.ts';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

describe('the media type of a file', () => {
  it.each([
    ['\u0089PNG\r\n\u001a\nrest', 'image/png'],
    ['\u00ff\u00d8\u00ff\u00e0rest', 'image/jpeg'],
    ['GIF89arest', 'image/gif'],
    ['RIFF0000WEBPrest', 'image/webp'],
    ['RIFF0000WAVErest', 'text/plain'],
    ['%PDF-1.7 rest', 'application/pdf'],
    ['PK\u0003\u0004rest', 'application/zip'],
    ['hello', 'text/plain'],
    ['he\u0000llo', 'application/octet-stream'],
    ['\u00ff\u00fe', 'application/octet-stream'],
    ['', 'text/plain'],
  ])('is what its bytes say: %j', (beginning, type) => {
    expect(mediaTypeOf(bytes(beginning))).toBe(type);
  });

  it('is text also when a character is cut where the looking ends', () => {
    const text = new TextEncoder().encode(`${'a'.repeat(SNIFFED_BYTES - 1)}ä and more`);
    expect(mediaTypeOf(text)).toBe('text/plain');
    expect([isImage('image/png'), isImage('text/plain')]).toEqual([true, false]);
  });
});
