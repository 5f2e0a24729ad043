// Frames of the keeper's socket (native/keeper/WIRE.md): u32 length of the payload, u8 type, payload; little endian.
import type { OutputStream } from './types.ts';
import { ANSWER_FRAME_BYTES } from './limits.ts';

/** Types of frames a client sends. */
export const REQUEST = {
  go: 0x01,
  attach: 0x02,
  detach: 0x03,
  input: 0x04,
  closeInput: 0x05,
  inputState: 0x06,
  resize: 0x07,
  signal: 0x08,
  terminate: 0x09,
  kill: 0x0a,
  wait: 0x0b,
  status: 0x0c,
  release: 0x0d,
  finish: 0x0e,
  reach: 0x0f,
} as const;

/** A name of a request. */
export type RequestName = keyof typeof REQUEST;

/** What a keeper sends. */
export type KeeperFrame =
  | { readonly kind: 'hello'; readonly body: unknown }
  | { readonly kind: 'ok'; readonly tag: number; readonly body: unknown }
  | { readonly kind: 'error'; readonly tag: number; readonly code: string; readonly message: string }
  | { readonly kind: 'output'; readonly stream: OutputStream; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'eof'; readonly stream: OutputStream; readonly offset: number };

const HEADER_BYTES = 5;
/** How a stream is named in frames. */
export const STREAM_CODE = { stdout: 1, stderr: 2 } as const;

/** One request as bytes, with its tag in front of the body. */
export const encodeRequest = (name: RequestName, tag: number, body: Uint8Array = new Uint8Array()): Uint8Array => {
  const frame = Buffer.alloc(HEADER_BYTES + 4 + body.length);
  frame.writeUInt32LE(4 + body.length, 0);
  frame.writeUInt8(REQUEST[name], 4);
  frame.writeUInt32LE(tag, HEADER_BYTES);
  frame.set(body, HEADER_BYTES + 4);
  return frame;
};

/** Body of ATTACH and RELEASE. */
export const encodeStreamOffset = (stream: OutputStream, offset: number): Uint8Array => {
  const body = Buffer.alloc(9);
  body.writeUInt8(STREAM_CODE[stream], 0);
  body.writeBigUInt64LE(BigInt(offset), 1);
  return body;
};

/** Body of INPUT (with bytes) and INPUT_STATE (without). The id is checked by the caller. */
export const encodeInput = (id: string, bytes: Uint8Array = new Uint8Array()): Uint8Array => {
  const name = Buffer.from(id, 'latin1');
  const body = Buffer.alloc(1 + name.length + bytes.length);
  body.writeUInt8(name.length, 0);
  body.set(name, 1);
  body.set(bytes, 1 + name.length);
  return body;
};

/** Body of RESIZE. */
export const encodeSize = (columns: number, rows: number): Uint8Array => {
  const body = Buffer.alloc(4);
  body.writeUInt16LE(columns, 0);
  body.writeUInt16LE(rows, 2);
  return body;
};

const streamOf = (code: number): OutputStream => {
  if (code === STREAM_CODE.stdout) return 'stdout';
  if (code === STREAM_CODE.stderr) return 'stderr';
  throw new Error(`stream ${code} is unknown`);
};

const json = (bytes: Buffer): unknown => (bytes.length === 0 ? null : JSON.parse(bytes.toString('utf8')));

const textField = (body: unknown, name: string): string => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
};

const decodeFrame = (type: number, payload: Buffer): KeeperFrame => {
  switch (type) {
    case 0x80:
      return { kind: 'hello', body: json(payload) };
    case 0x81:
      return { kind: 'ok', tag: payload.readUInt32LE(0), body: json(payload.subarray(4)) };
    case 0x82: {
      const body = json(payload.subarray(4));
      return { kind: 'error', tag: payload.readUInt32LE(0), code: textField(body, 'code'), message: textField(body, 'message') };
    }
    case 0x83:
      return {
        kind: 'output',
        stream: streamOf(payload.readUInt8(0)),
        offset: Number(payload.readBigUInt64LE(1)),
        bytes: payload.subarray(9),
      };
    case 0x84:
      return { kind: 'eof', stream: streamOf(payload.readUInt8(0)), offset: Number(payload.readBigUInt64LE(1)) };
    default:
      throw new Error(`frame type ${type} is unknown`);
  }
};

/** Collects bytes and answers whole frames. Throws on what no keeper sends: the view must then be closed. */
export type FrameReader = { push(bytes: Uint8Array): KeeperFrame[] };

/** A reader for one connection. Output frames share memory with the bytes pushed. */
export const createFrameReader = (): FrameReader => {
  let pending: Buffer[] = [];
  let size = 0;
  const take = (): Buffer => {
    const whole = pending.length === 1 ? pending[0]! : Buffer.concat(pending, size);
    pending = [whole];
    return whole;
  };
  const next = (): KeeperFrame | null => {
    if (size < HEADER_BYTES) return null;
    // Joining is put off until a whole frame is there: a 64 KiB frame in small reads is copied once.
    const head = pending[0]!.length >= HEADER_BYTES ? pending[0]! : take();
    const length = head.readUInt32LE(0);
    if (length > ANSWER_FRAME_BYTES) throw new Error(`a frame of ${length} bytes is too long`);
    if (size < HEADER_BYTES + length) return null;
    const whole = head.length >= HEADER_BYTES + length ? head : take();
    const rest = whole.subarray(HEADER_BYTES + length);
    pending = rest.length === 0 ? pending.slice(1) : [rest, ...pending.slice(1)];
    size -= HEADER_BYTES + length;
    return decodeFrame(whole.readUInt8(4), whole.subarray(HEADER_BYTES, HEADER_BYTES + length));
  };
  return {
    push: (bytes) => {
      if (bytes.length > 0) pending.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      size += bytes.length;
      const frames: KeeperFrame[] = [];
      for (let frame = next(); frame !== null; frame = next()) frames.push(frame);
      return frames;
    },
  };
};
