import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

/** Longest request body, before and after it is unpacked. */
export const MAX_BODY_BYTES = 128 * 1024 * 1024;

/** A request body that cannot be read; the message says why. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** The whole body, unpacked. @throws UnreadableBody when it is too long or not packed as it says */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new UnreadableBody(`request body: longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return unpack(Buffer.concat(chunks), request.headers['content-encoding'] ?? 'identity');
}

function unpack(packed: Buffer, encoding: string): Buffer {
  const options = { maxOutputLength: MAX_BODY_BYTES };
  try {
    if (encoding === 'identity') return packed;
    if (encoding === 'gzip') return gunzipSync(packed, options);
    if (encoding === 'deflate') return inflateSync(packed, options);
    if (encoding === 'br') return brotliDecompressSync(packed, options);
    if (encoding === 'zstd') return zstdDecompressSync(packed, options);
  } catch (error) {
    throw new UnreadableBody(`request body: not ${encoding}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UnreadableBody(`request body: content-encoding \`${encoding}\` is not known. Use gzip, deflate, br or zstd.`);
}
