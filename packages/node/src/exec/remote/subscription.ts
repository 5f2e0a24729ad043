// One reader of one stream over a connection that it shares with others. What it does not take in time is dropped here
// and asked for again: the keeper keeps every byte until it is released, so a slow reader never holds up the others.
import type { StreamFrame } from '../../keeper/channel.ts';
import type { OutputStream } from '../../keeper/types.ts';
import { VIEW_BUFFER_BYTES } from './limits.ts';

/** What a reader gets next. `lost`: the keeper is gone; nothing comes over this connection any more. */
export type Arrival = StreamFrame | { readonly kind: 'lost' };

/** A reader's place in a stream. */
export type Subscription = {
  readonly stream: OutputStream;
  /** Offset of the first byte that has not arrived yet: where to attach. */
  readonly wanted: number;
  /** Whether the stream shall flow now. */
  readonly flowing: boolean;
  /** Takes a frame, unless it is not the next one or there is no room. */
  take(frame: StreamFrame): void;
  next(): Promise<Arrival>;
  fail(thrown: unknown): void;
  lose(): void;
};

const sizeOf = (frame: StreamFrame): number => (frame.kind === 'output' ? frame.bytes.length : 0);

/** A reader from `from` on. `onFlow` is told when the stream shall stop or go on. */
export const createSubscription = (
  stream: OutputStream,
  from: number,
  onFlow: (subscription: Subscription) => void,
): Subscription => {
  const frames: StreamFrame[] = [];
  let wanted = from;
  let waitingBytes = 0;
  let flowing = true;
  let lost = false;
  let failure: { readonly thrown: unknown } | null = null;
  let wake = Promise.withResolvers<void>();
  const signal = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const flow = (on: boolean): void => {
    flowing = on;
    onFlow(subscription);
  };
  const subscription: Subscription = {
    stream,
    get wanted() {
      return wanted;
    },
    get flowing() {
      return flowing;
    },
    take: (frame) => {
      // Bytes of an earlier attachment may still be on their way; an offset says for certain what is new.
      if (!flowing || frame.offset !== wanted) return;
      frames.push(frame);
      wanted += sizeOf(frame);
      waitingBytes += sizeOf(frame);
      if (waitingBytes > VIEW_BUFFER_BYTES) flow(false);
      signal();
    },
    next: async () => {
      while (frames.length === 0) {
        if (failure !== null) throw failure.thrown;
        if (lost) return { kind: 'lost' };
        await wake.promise;
      }
      const frame = frames.shift()!;
      waitingBytes -= sizeOf(frame);
      if (!flowing && waitingBytes < VIEW_BUFFER_BYTES / 2) flow(true);
      return frame;
    },
    fail: (thrown) => {
      failure = { thrown };
      signal();
    },
    lose: () => {
      lost = true;
      signal();
    },
  };
  return subscription;
};
