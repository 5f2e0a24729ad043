// A command in a pod over a WebSocket of the cluster: the remote command protocol, version 5 or 4.
import { Duplex } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import WebSocket from 'ws';
import type { PlaceProcess } from '../remote/place.ts';
import { DIAL_MS, FRAME_BYTES, PING_MS, STDERR_BYTES } from './limits.ts';

/** Channels of the protocol: the first byte of every message. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;

/** Version 5 can end stdin alone; 4 cannot. */
export const V5 = 'v5.channel.k8s.io';
const PROTOCOLS = [V5, 'v4.channel.k8s.io'];

/** Where to connect, with the headers and certificates of the cluster's configuration. */
export type Dial = { readonly url: string; readonly options: WebSocket.ClientOptions };

/** An answer on the status channel: how the command ended. */
type Status = {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
};

/** The exit code in a status, or why there is none. */
export const readStatus = (text: string): { readonly exitCode: number } | { readonly lost: string } => {
  const said = JSON.parse(text) as Status;
  if (said.status === 'Success') return { exitCode: 0 };
  const code = said.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  return code === undefined ? { lost: said.message ?? said.reason ?? 'the cluster did not say why' } : { exitCode: Number(code) };
};

const dialed = ({ url, options }: Dial): WebSocket =>
  new WebSocket(url, PROTOCOLS, { ...options, perMessageDeflate: false, handshakeTimeout: DIAL_MS, maxPayload: FRAME_BYTES });

const opened = async (socket: WebSocket): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('open', resolve).once('error', reject);
  // The cluster says in the answer's body why it refuses.
  socket.once('unexpected-response', (_request, answer) => {
    let body = '';
    answer.on('data', (bytes: Buffer) => (body = (body + bytes.toString('utf8')).slice(0, 2000)));
    answer.on('end', () => reject(new Error(`the cluster answered ${answer.statusCode}: ${reasonIn(body)}`)));
  });
  try {
    await promise;
  } catch (thrown) {
    socket.terminate();
    throw thrown;
  }
};

const reasonIn = (body: string): string => {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body;
  } catch {
    return body;
  }
};

/** Ends a connection on which nobody answers: the other side of a dead line never closes it. */
const keepAlive = (socket: WebSocket): void => {
  let heard = true;
  socket.on('pong', () => (heard = true)).on('message', () => (heard = true));
  const timer = setInterval(() => {
    // A stream that we do not read is silent by our own doing.
    if (!heard && !socket.isPaused) socket.terminate();
    heard = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  socket.once('close', () => clearInterval(timer));
};

const frame = (channel: number, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([channel]), bytes]);

const streamOver = (socket: WebSocket): Duplex =>
  new Duplex({
    read: () => socket.resume(),
    write: (bytes: Buffer, _encoding, done) => socket.send(frame(CHANNEL.stdin, bytes), (error) => done(error ?? null)),
    final: (done) => endInput(socket, done),
    destroy: (error, done) => {
      socket.terminate();
      done(error);
    },
  });

const feed = (stdio: Duplex, stdin: Uint8Array | Readable | 'open' | undefined): void => {
  if (stdin === 'open' || stdin === undefined) return;
  if (stdin instanceof Uint8Array) stdio.end(stdin);
  else void pipeline(stdin, stdio).catch(() => undefined);
};

// Version 4 has no word for it: what is asked there ends by its content (`stdinFor`).
const endInput = (socket: WebSocket, done: (error?: Error | null) => void): void =>
  socket.protocol === V5 ? socket.send(Buffer.from([CHANNEL.close, CHANNEL.stdin]), (error) => done(error ?? null)) : done();

/** Opens a command. */
export const openCommand = async (
  dial: Dial,
  { stdin, timeoutMs }: { readonly stdin?: Uint8Array | Readable | 'open'; readonly timeoutMs: number | null },
): Promise<PlaceProcess & { readonly protocol: string }> => {
  const socket = dialed(dial);
  const over = Promise.withResolvers<{ readonly exitCode: number } | { readonly lost: string }>();
  let stderr = '';
  let end: { readonly exitCode: number } | { readonly lost: string } | null = null;
  const stdio = streamOver(socket);
  stdio.on('error', () => undefined);
  socket.on('message', (message: Buffer) => {
    const bytes = message.subarray(1);
    if (message[0] === CHANNEL.stdout && bytes.length > 0 && !stdio.push(bytes)) socket.pause();
    if (message[0] === CHANNEL.stderr) stderr = (stderr + bytes.toString('utf8')).slice(-STDERR_BYTES);
    if (message[0] === CHANNEL.status) end = readStatus(bytes.toString('utf8'));
  });
  const timer = timeoutMs === null ? null : setTimeout(() => lose(`no end in ${timeoutMs} ms`), timeoutMs);
  const lose = (why: string): void => {
    end ??= { lost: why };
    socket.terminate();
  };
  socket.on('error', (thrown) => lose(thrown.message));
  // The status may come before the last output: only the end of the connection is the end.
  socket.once('close', () => {
    if (timer !== null) clearTimeout(timer);
    over.resolve(end ?? { lost: 'the connection ended' });
    if (end !== null && 'exitCode' in end) stdio.push(null);
    else stdio.destroy(new Error(end?.lost ?? 'the connection ended'));
  });
  // All listeners are there by now: the first messages may come together with the answer that opens the connection.
  await opened(socket);
  keepAlive(socket);
  feed(stdio, stdin);
  return {
    stdio,
    stderr: () => stderr,
    ended: over.promise,
    close: () => lose('the view was dropped'),
    protocol: socket.protocol,
  };
};
