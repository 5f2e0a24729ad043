// A port of a program in a place: one connection to the program's keeper becomes a pipe to it.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { encodeRequest } from '../../keeper/frames.ts';
import { mustRun, unreachable } from './command.ts';
import { GREETING_MS } from './limits.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { dialRun } from './place-tools.ts';

const TAG = 1;
const HEADER = 5;
const OK = 0x81;
const ERR = 0x82;

const noListener = (port: number): OrreryError =>
  new OrreryError('not_found', `Nothing of the environment listens on port ${port}.`, {
    rule: 'A port leads to a program of the environment, and to no other.',
  });

const readable = (socket: Duplex): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const lost = (): void => reject(unreachable('the way to a port broke'));
  socket.once('readable', resolve).once('close', lost).once('end', lost);
  return promise.finally(() => socket.off('readable', resolve).off('close', lost).off('end', lost));
};

/** The keeper's answer to REACH: null for yes, else its code. What comes after it is left in the stream. */
const answerOf = async (socket: Duplex): Promise<string | null> => {
  let pending: Buffer = Buffer.alloc(0);
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes === null) await readable(socket);
    else pending = Buffer.concat([pending, bytes]);
    while (pending.length >= HEADER && pending.length >= HEADER + pending.readUInt32LE(0)) {
      const end = HEADER + pending.readUInt32LE(0);
      const type = pending.readUInt8(4);
      const payload = pending.subarray(HEADER, end);
      pending = pending.subarray(end);
      if ((type !== OK && type !== ERR) || payload.readUInt32LE(0) !== TAG) continue;
      if (pending.length > 0) socket.unshift(pending);
      if (type === OK) return null;
      const said = JSON.parse(payload.subarray(4).toString('utf8')) as { readonly code?: unknown };
      return typeof said.code === 'string' ? said.code : 'unknown';
    }
  }
};

/** Tries the network of one run; null when nothing of it listens there. */
const tryRun = async (line: Line, dir: string, port: number): Promise<Duplex | null> => {
  const socket = await dialRun(line, dir);
  const late = setTimeout(() => socket.destroy(), GREETING_MS);
  try {
    const body = Buffer.alloc(2);
    body.writeUInt16LE(port, 0);
    socket.write(encodeRequest('reach', TAG, body));
    const refusal = await answerOf(socket);
    if (refusal === null) return socket;
    socket.destroy();
    if (refusal === 'no-listener' || refusal === 'not-running') return null;
    throw new OrreryError(refusal === 'busy' ? 'busy' : 'internal', `The port ${port} cannot be reached: ${refusal}.`);
  } finally {
    clearTimeout(late);
  }
};

/**
 * A connection to a port of loopback as a program of this environment has it. Rejects with `not_found` when nothing of it
 * listens there. Only for places and programs whose loopback is nobody else's.
 */
export const reachPort = async (line: Line, port: number): Promise<Duplex> => {
  const script = 'ls -1 -- "$1"';
  const said = await patiently(line, () =>
    mustRun(line.place, ['sh', '-c', script, 'sh', line.layout.runs], { what: 'Looking for its programs' }),
  );
  for (const name of said
    .toString('utf8')
    .split('\n')
    .filter((one) => one !== '')) {
    // A run that ended meanwhile has no keeper that answers.
    const socket = await tryRun(line, `${line.layout.runs}/${name}`, port).catch((thrown: unknown) => {
      if (thrown instanceof OrreryError && thrown.code === 'backend_unreachable') return null;
      throw thrown;
    });
    if (socket !== null) return socket;
  }
  throw noListener(port);
};
