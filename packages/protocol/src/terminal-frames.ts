// Binary frames of a terminal: what they are (1 byte), the generation of the stream (4), the offset of the first byte in
// it (8), then bytes. Numbers are big endian. Free of imports, so that the command line can load it at once.

/**
 * What a binary frame is: output of a program, input to it, or the screen as it was at an offset of the output, as what has
 * to be written to an empty terminal to see it.
 */
export type TerminalStream = 'stdin' | 'stdout' | 'stderr' | 'screen';

/** One binary frame. */
export type TerminalBytes = {
  readonly stream: TerminalStream;
  readonly generation: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
};

/** The WebSocket protocol of terminals. */
export const terminalProtocol = 'orrery-terminal.v1';

/** Where a terminal is, below `/api/v1`. */
export const terminalPath = '/environments/:id/terminals/:terminal';

const HEADER_BYTES = 13;
const STREAMS: readonly TerminalStream[] = ['stdin', 'stdout', 'stderr', 'screen'];

/** A frame as bytes. */
export const encodeTerminalBytes = ({ stream, generation, offset, bytes }: TerminalBytes): Uint8Array => {
  const frame = new Uint8Array(HEADER_BYTES + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, STREAMS.indexOf(stream));
  view.setUint32(1, generation);
  view.setBigUint64(5, BigInt(offset));
  frame.set(bytes, HEADER_BYTES);
  return frame;
};

/** Reads a frame; null when it is none. */
export const decodeTerminalBytes = (frame: Uint8Array): TerminalBytes | null => {
  if (frame.length < HEADER_BYTES) return null;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const stream = STREAMS[view.getUint8(0)];
  const offset = Number(view.getBigUint64(5));
  if (stream === undefined || !Number.isSafeInteger(offset)) return null;
  return { stream, generation: view.getUint32(1), offset, bytes: frame.subarray(HEADER_BYTES) };
};
