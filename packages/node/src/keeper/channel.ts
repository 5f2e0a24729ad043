// One connection to a keeper: requests with answers, and frames of output for who listens.
import type { Duplex } from 'node:stream';
import { createFrameReader, encodeRequest } from './frames.ts';
import type { KeeperFrame, RequestName } from './frames.ts';
import { CONNECT_MS } from './limits.ts';
import { keeperLost } from './lost.ts';
import { readHello } from './records.ts';
import type { KeeperHello } from './records.ts';

/** A keeper's no, with the code of its wire. */
export class KeeperRefusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message === '' ? code : message);
    this.name = 'KeeperRefusal';
    this.code = code;
  }
}

/** Frames that answer no request. */
export type StreamFrame = Extract<KeeperFrame, { kind: 'output' | 'eof' }>;

/** One open connection. After `closed` every request rejects with `keeper_lost`. */
export type Channel = {
  readonly hello: KeeperHello;
  request(name: RequestName, body?: Uint8Array): Promise<unknown>;
  /** Stops and starts taking bytes from the keeper: its back-pressure. */
  pause(): void;
  resume(): void;
  /** Resolves when the connection is over, with what the keeper said last or null. */
  readonly closed: Promise<string | null>;
  close(): void;
};

type Waiting = { readonly resolve: (body: unknown) => void; readonly reject: (reason: unknown) => void };

/**
 * Shakes hands over `socket`. `onStream` gets output in order. Rejects with `keeper_lost` when no keeper answers within
 * `greetingMs`.
 */
export const openChannel = async (
  socket: Duplex,
  onStream: (frame: StreamFrame) => void = () => undefined,
  greetingMs: number = CONNECT_MS,
): Promise<Channel> => {
  const reader = createFrameReader();
  const waiting = new Map<number, Waiting>();
  const greeting = Promise.withResolvers<KeeperHello>();
  const over = Promise.withResolvers<string | null>();
  let lastTag = 0;
  let lastWord: string | null = null;
  let open = true;

  const end = (cause: unknown): void => {
    if (!open) return;
    open = false;
    const error = keeperLost(lastWord ?? 'its connection ended', cause);
    greeting.reject(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    over.resolve(lastWord);
    socket.destroy();
  };
  const take = (frame: KeeperFrame): void => {
    if (frame.kind === 'hello') greeting.resolve(readHello(frame.body));
    else if (frame.kind === 'output' || frame.kind === 'eof') onStream(frame);
    else if (frame.tag === 0) lastWord = frame.kind === 'error' ? frame.code : null;
    else {
      const asked = waiting.get(frame.tag);
      waiting.delete(frame.tag);
      if (frame.kind === 'ok') asked?.resolve(frame.body);
      else asked?.reject(new KeeperRefusal(frame.code, frame.message));
    }
  };
  socket.on('data', (bytes: Buffer) => {
    try {
      for (const frame of reader.push(bytes)) take(frame);
    } catch (thrown) {
      end(thrown);
    }
  });
  socket.on('error', end);
  socket.on('close', () => end(undefined));
  // A keeper that has no more to say is gone, or is about to be.
  socket.on('end', () => end(undefined));

  const timer = setTimeout(() => end(new Error(`no greeting in ${greetingMs} ms`)), greetingMs);
  const hello = await greeting.promise.finally(() => clearTimeout(timer));
  return {
    hello,
    request: (name, body) => {
      if (!open) return Promise.reject(keeperLost(lastWord ?? 'its connection ended'));
      lastTag += 1;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(lastTag, { resolve, reject });
      socket.write(encodeRequest(name, lastTag, body));
      return promise;
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed: over.promise,
    close: () => end(undefined),
  };
};
