// Frames of the broker's way in (native/keeper/WIRE.md, "Relay"): u32 length (of id and payload) · u8 type · u32 id · payload.

/** Types of frames. */
export const RELAY = { open: 1, data: 2, end: 3, reset: 4, window: 5, ping: 6, pong: 7, ready: 0x80 } as const;

/** What each side may send of one connection before the other said that it took it. */
export const RELAY_WINDOW = 256 * 1024;
/** Bytes in one DATA frame. */
export const RELAY_DATA = 32 * 1024;

/** One frame. */
export type RelayFrame = { readonly type: number; readonly id: number; readonly payload: Buffer };

const HEADER = 9;

/** A frame as bytes. */
export const encodeRelayFrame = (type: number, id: number, payload: Uint8Array = new Uint8Array()): Buffer => {
  const frame = Buffer.alloc(HEADER + payload.length);
  frame.writeUInt32LE(4 + payload.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32LE(id, 5);
  frame.set(payload, HEADER);
  return frame;
};

/** The payload of WINDOW. */
export const encodeTaken = (bytes: number): Buffer => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(bytes, 0);
  return payload;
};

/** Collects bytes and answers whole frames. Throws on what no relay sends. */
export const createRelayReader = (): { push(bytes: Buffer): RelayFrame[] } => {
  let pending: Buffer = Buffer.alloc(0);
  return {
    push: (bytes) => {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const frames: RelayFrame[] = [];
      while (pending.length >= HEADER) {
        const length = pending.readUInt32LE(0);
        if (length < 4 || length > 4 + RELAY_DATA) throw new Error(`a relay frame of ${length} bytes is none`);
        if (pending.length < 5 + length) break;
        frames.push({ type: pending.readUInt8(4), id: pending.readUInt32LE(5), payload: pending.subarray(HEADER, 5 + length) });
        pending = pending.subarray(5 + length);
      }
      return frames;
    },
  };
};
