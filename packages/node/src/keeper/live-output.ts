import { encodeStreamOffset } from './frames.ts';
import type { Channel, StreamFrame } from './channel.ts';
import { OUTPUT_BUFFER_BYTES } from './limits.ts';
import type { OutputChunk, OutputStream } from './types.ts';

/** A queue between the socket and one reader that pauses the socket when the reader is slow. */
const createQueue = () => {
  const frames: StreamFrame[] = [];
  let bytes = 0;
  let paused = false;
  let channel: Channel | null = null;
  let lost = false;
  let wake = Promise.withResolvers<void>();
  const size = (frame: StreamFrame): number => (frame.kind === 'output' ? frame.bytes.length : 0);
  const signal = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  return {
    push: (frame: StreamFrame): void => {
      frames.push(frame);
      bytes += size(frame);
      if (bytes > OUTPUT_BUFFER_BYTES && !paused) {
        paused = true;
        channel?.pause();
      }
      signal();
    },
    connect: (to: Channel): void => {
      channel = to;
      void to.closed.then(() => {
        lost = true;
        signal();
      });
    },
    /** The next frame, or null when the connection is over and everything it brought was read. */
    next: async (): Promise<StreamFrame | null> => {
      while (frames.length === 0) {
        if (lost) return null;
        await wake.promise;
      }
      const frame = frames.shift()!;
      bytes -= size(frame);
      if (paused && bytes < OUTPUT_BUFFER_BYTES / 2) {
        paused = false;
        channel?.resume();
      }
      return frame;
    },
  };
};

/** How a live reading ended: at the end of the stream, or because the connection was lost. */
export type LiveEnd = { readonly end: 'eof' | 'lost'; readonly offset: number };

/**
 * Output of a living keeper from `fromOffset`, on a connection of its own, as fast as it is asked for. Returns where it
 * ended. `open` connects and may reject; the ATTACH's refusal is thrown as it is.
 */
export async function* readLive(
  open: (onStream: (frame: StreamFrame) => void) => Promise<Channel>,
  stream: OutputStream,
  fromOffset: number,
): AsyncGenerator<OutputChunk, LiveEnd> {
  const queue = createQueue();
  const channel = await open(queue.push);
  queue.connect(channel);
  let offset = fromOffset;
  try {
    await channel.request('attach', encodeStreamOffset(stream, fromOffset));
    for (;;) {
      const frame = await queue.next();
      if (frame === null) return { end: 'lost', offset };
      if (frame.kind === 'eof') return { end: 'eof', offset: frame.offset };
      yield { offset: frame.offset, bytes: frame.bytes };
      offset = frame.offset + frame.bytes.length;
    }
  } finally {
    channel.close();
  }
}
