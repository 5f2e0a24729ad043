// A connection to a keeper that becomes a pipe of bytes to a port of its program.
import type { Duplex } from 'node:stream';
import { encodeRequest } from './frames.ts';
import { readHello } from './records.ts';
import { sameIdentity } from './identity.ts';
import type { KeeperIdentity } from './types.ts';

const TAG = 1;
const HEADER_BYTES = 5;
const HELLO = 0x80;
const OK = 0x81;
const ERR = 0x82;

/** What a port is asked of a fresh connection to a keeper with. */
export type Reach = {
  readonly port: number;
  /** The keeper that must answer; null: whichever does. */
  readonly identity: KeeperIdentity | null;
  /** What to reject with when the connection ends first. */
  readonly lost: () => Error;
};

const readable = (socket: Duplex, lost: () => Error): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const ended = (): void => reject(lost());
  socket.once('readable', resolve).once('close', ended).once('end', ended);
  return promise.finally(() => socket.off('readable', resolve).off('close', ended).off('end', ended));
};

const codeOf = (payload: Buffer): string => {
  const said = JSON.parse(payload.subarray(4).toString('utf8')) as { readonly code?: unknown };
  return typeof said.code === 'string' ? said.code : 'unknown';
};

/** Asks for the port. Null: from now on `socket` is the pipe, with what came already in it; else the keeper's code. */
export const askReach = async (socket: Duplex, { port, identity, lost }: Reach): Promise<string | null> => {
  const body = Buffer.alloc(2);
  body.writeUInt16LE(port, 0);
  if (identity === null) socket.write(encodeRequest('reach', TAG, body));
  let pending: Buffer = Buffer.alloc(0);
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes === null) await readable(socket, lost);
    else pending = Buffer.concat([pending, bytes]);
    while (pending.length >= HEADER_BYTES && pending.length >= HEADER_BYTES + pending.readUInt32LE(0)) {
      const end = HEADER_BYTES + pending.readUInt32LE(0);
      const type = pending.readUInt8(4);
      const payload = pending.subarray(HEADER_BYTES, end);
      pending = pending.subarray(end);
      if (type === HELLO && identity !== null) {
        if (!sameIdentity(readHello(JSON.parse(payload.toString('utf8'))), identity)) throw lost();
        socket.write(encodeRequest('reach', TAG, body));
      }
      if ((type !== OK && type !== ERR) || payload.readUInt32LE(0) !== TAG) continue;
      if (pending.length > 0) socket.unshift(pending);
      return type === OK ? null : codeOf(payload);
    }
  }
};
