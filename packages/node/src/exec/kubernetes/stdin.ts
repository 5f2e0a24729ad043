// Ending stdin where the protocol cannot: version 4 of the remote command protocol has no word for it.
import { Duplex, Readable, Transform } from 'node:stream';
import type { PlaceCommand, PlaceProcess } from '../remote/place.ts';
import { V5 } from './wire.ts';

/** Input up to here is counted before it is sent. */
const COUNTED_BYTES = 1024 * 1024;

// Paths and numbers are parameters, never part of the text.
const COUNTED = 'count=$1; shift; head -c "$count" | "$@"';

const counted = (argv: readonly string[], bytes: Uint8Array): Pick<PlaceCommand, 'argv' | 'stdin'> => ({
  argv: ['sh', '-c', COUNTED, 'sh', String(bytes.length), ...argv],
  stdin: bytes,
});

async function* joined(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

const piece = (bytes: Uint8Array): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
};

// An empty piece is the end: none may come before.
async function* pieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const one of bytes) if (one.length > 0) yield piece(one);
  yield piece(new Uint8Array());
}

/**
 * The command as it is sent: with version 4, input that is known whole is cut off at its length in the pod, and what is
 * longer goes in pieces through `keeper`, the keeper program in the pod.
 */
export const withEndingInput = async (
  { protocol, keeper }: { readonly protocol: string; readonly keeper: string },
  command: PlaceCommand,
): Promise<Pick<PlaceCommand, 'argv' | 'stdin'>> => {
  const { argv, stdin } = command;
  if (protocol === V5 || stdin === undefined) return { argv, ...(stdin === undefined ? {} : { stdin }) };
  if (stdin === 'open') return { argv: [keeper, 'feed', '--', ...argv], stdin };
  if (stdin instanceof Uint8Array) return counted(argv, stdin);
  const parts: Buffer[] = [];
  let size = 0;
  const iterator = (stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > COUNTED_BYTES)
      return { argv: [keeper, 'feed', '--', ...argv], stdin: Readable.from(pieces(joined(parts, iterator))) };
  }
  return counted(argv, Buffer.concat(parts));
};

/** The process of a command that was sent with its input held open: what is written to it goes in pieces where it has to. */
export const withPieces = (protocol: string, process: PlaceProcess): PlaceProcess => {
  if (protocol === V5) return process;
  const inPieces = new Transform({
    transform: (bytes: Buffer, _encoding, done) => done(null, bytes.length === 0 ? undefined : piece(bytes)),
    flush: (done) => done(null, piece(new Uint8Array())),
  });
  inPieces.pipe(process.stdio, { end: false });
  const stdio = Duplex.from({ readable: process.stdio, writable: inPieces });
  stdio.on('error', () => undefined);
  return { ...process, stdio };
};
