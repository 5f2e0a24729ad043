// Frames of the starter (native/keeper/WIRE.md, "Starter"): u32 length, u8 type, u32 id of the command, payload; little endian.
import { memoryMib, type Command } from '../kernel/spawner.ts';
import { FRAME_BYTES } from './limits.ts';

/** Types of frames the node sends. */
export const ASK = { start: 1, input: 2, closeInput: 3, kill: 4, credit: 5, release: 6 } as const;

/** What a starter says of a command. */
export type StarterFrame =
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'refused'; readonly id: number; readonly errno: number }
  | { readonly kind: 'output'; readonly id: number; readonly stream: 0 | 1; readonly bytes: Buffer }
  | { readonly kind: 'eof'; readonly id: number; readonly stream: 0 | 1 }
  | { readonly kind: 'exit'; readonly id: number; readonly code: number | null; readonly signal: number | null }
  | { readonly kind: 'room'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'input-ended'; readonly id: number };

const HEAD_BYTES = 9;
const NO_CODE = 0xffffffff;
const WITH_INPUT = 1;
const WITH_STDERR = 2;
const LIVES_ON = 4;

/** One frame as bytes. */
export const encodeFrame = (type: keyof typeof ASK, id: number, payload: Uint8Array = new Uint8Array()): Buffer => {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  frame.writeUInt32LE(4 + payload.length, 0);
  frame.writeUInt8(ASK[type], 4);
  frame.writeUInt32LE(id, 5);
  frame.set(payload, HEAD_BYTES);
  return frame;
};

/** Payload of START. Null when a text holds a NUL, which no command can be given. */
export const encodeCommand = (command: Command): Buffer | null => {
  const variables = Object.entries(command.environment).map(([name, value]) => `${name}=${value}`);
  const texts = [command.cwd, command.program, ...command.args, ...variables];
  if (texts.some((text) => text.includes('\0'))) return null;
  const head = Buffer.alloc(13);
  const flags =
    (command.input === true ? WITH_INPUT : 0) |
    (command.stderr === true ? WITH_STDERR : 0) |
    (command.livesOn === true ? LIVES_ON : 0);
  head.writeUInt8(flags, 0);
  head.writeUInt32LE(1 + command.args.length, 1);
  head.writeUInt32LE(variables.length, 5);
  head.writeUInt32LE(memoryMib(command), 9);
  return Buffer.concat([head, Buffer.from(`${texts.join('\0')}\0`)]);
};

/** Payload of CREDIT. */
export const encodeCredit = (stream: 0 | 1, bytes: number): Buffer => {
  const payload = Buffer.alloc(5);
  payload.writeUInt8(stream, 0);
  payload.writeUInt32LE(bytes, 1);
  return payload;
};

const streamOf = (code: number): 0 | 1 => {
  if (code !== 0 && code !== 1) throw new Error(`stream ${code} is unknown`);
  return code;
};

const decodeFrame = (type: number, id: number, payload: Buffer): StarterFrame => {
  switch (type) {
    case 0x80:
      return { kind: 'started', id, pid: payload.readUInt32LE(0) };
    case 0x81:
      return { kind: 'refused', id, errno: payload.readUInt32LE(0) };
    case 0x82:
      return { kind: 'output', id, stream: streamOf(payload.readUInt8(0)), bytes: payload.subarray(1) };
    case 0x83:
      return { kind: 'eof', id, stream: streamOf(payload.readUInt8(0)) };
    case 0x84: {
      const code = payload.readUInt32LE(0);
      return { kind: 'exit', id, code: code === NO_CODE ? null : code, signal: payload.readUInt32LE(4) || null };
    }
    case 0x85:
      return { kind: 'room', id, bytes: payload.readUInt32LE(0) };
    case 0x86:
      return { kind: 'input-ended', id };
    default:
      throw new Error(`frame type ${type} is unknown`);
  }
};

/** Collects bytes and answers whole frames. Throws on what no starter says. */
export const createFrameReader = (): { push(bytes: Buffer): StarterFrame[] } => {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push: (bytes) => {
      let at = 0;
      const whole = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const frames: StarterFrame[] = [];
      while (whole.length - at >= HEAD_BYTES) {
        const length = whole.readUInt32LE(at);
        if (length < 4 || length > FRAME_BYTES) throw new Error(`a frame of ${length} bytes is none`);
        const end = at + 5 + length;
        if (whole.length < end) break;
        frames.push(decodeFrame(whole.readUInt8(at + 4), whole.readUInt32LE(at + 5), whole.subarray(at + HEAD_BYTES, end)));
        at = end;
      }
      rest = whole.subarray(at);
      return frames;
    },
  };
};
