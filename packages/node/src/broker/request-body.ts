import type { IncomingMessage } from 'node:http';

/** A whole request body, or why there is none. */
export type ReadBody =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'gone' };

/** Reads a body up to `limit` bytes; past it reading stops and the connection stays open for the answer. Never rejects. */
export const readBody = (request: IncomingMessage, limit: number): Promise<ReadBody> =>
  new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return resolve({ kind: 'too-large' });
    const parts: Buffer[] = [];
    let bytes = 0;
    const onPart = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      if (bytes > limit) settle({ kind: 'too-large' });
    };
    const settle = (read: ReadBody): void => {
      request.off('data', onPart);
      request.pause();
      resolve(read);
    };
    request.on('data', onPart);
    request.once('end', () => settle({ kind: 'body', bytes: Buffer.concat(parts, bytes) }));
    request.once('close', () => settle({ kind: 'gone' }));
    request.on('error', () => settle({ kind: 'gone' }));
  });
