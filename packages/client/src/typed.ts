// What is typed or piped, on its way to a program: kept until it was written there, and never more than a window of it.

/** Input that is on its way; while there is more, nothing is read. */
const WINDOW_BYTES = 1024 * 1024;
/** One input frame. */
const FRAME_BYTES = 64 * 1024;

/** A frame of input with its place in all that was typed. */
export type Said = { readonly offset: number; readonly bytes: Uint8Array };

export type Typed = {
  /** Resolves when there is room for more. */
  push(bytes: Uint8Array): Promise<void> | undefined;
  /** The program has everything before this offset. */
  took(offset: number): void;
  /** Over a new connection: what arrived before is not written twice. */
  sendAgain(): void;
  /** What waits is dropped: the program does not take it. */
  forget(): void;
};

/** Makes it; `send` sends a frame if there is a connection. */
export const createTyped = (send: (said: Said) => void): Typed => {
  let kept: readonly Said[] = [];
  let written = 0;
  let room = Promise.withResolvers<void>();
  const waiting = (): number => written - (kept[0]?.offset ?? written);
  const check = (): void => {
    if (waiting() > WINDOW_BYTES / 2) return;
    room.resolve();
    room = Promise.withResolvers<void>();
  };
  return {
    push(bytes) {
      for (let from = 0; from < bytes.length; from += FRAME_BYTES) {
        const said = { offset: written, bytes: bytes.slice(from, from + FRAME_BYTES) };
        written += said.bytes.length;
        kept = [...kept, said];
        send(said);
      }
      return waiting() > WINDOW_BYTES ? room.promise : undefined;
    },
    took(offset) {
      kept = kept.filter(({ offset: at, bytes }) => at + bytes.length > offset);
      check();
    },
    sendAgain: () => kept.forEach(send),
    forget() {
      kept = [];
      check();
    },
  };
};
