import type { OutputChunk } from '../keeper/types.ts';

/**
 * Joins pieces of output that are there already, up to about `most` bytes: what a program floods costs one commit for
 * many pieces, and what it says now and then comes at once. Bytes and order stay as they are; a failure of the source
 * comes after the pieces before it.
 */
export async function* joinedOutput(source: AsyncIterable<OutputChunk>, most: number): AsyncGenerator<OutputChunk> {
  const iterator = source[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<OutputChunk>> => {
    const next = iterator.next();
    // It may fail while the piece before it is still worked on; it is awaited after that.
    next.catch(() => undefined);
    return next;
  };
  let next = ask();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const pieces = [first.value.bytes];
      let size = first.value.bytes.length;
      next = ask();
      while (size < most) {
        const more = await Promise.race([next.catch(() => null), aTurn()]);
        if (more === null || more.done === true) break;
        pieces.push(more.value.bytes);
        size += more.value.bytes.length;
        next = ask();
      }
      yield { offset: first.value.offset, bytes: pieces.length === 1 ? first.value.bytes : Buffer.concat(pieces) };
    }
  } finally {
    // Not awaited: the source may be waiting for bytes until its connection is let go.
    iterator.return?.().catch(() => undefined);
  }
}

/** Nothing, after everything that is ready had its turn. */
const aTurn = (): Promise<null> => new Promise((resolve) => setImmediate(resolve, null));
