// One program's connection to the broker, on this side of the relay: to the node's own socket and back, no faster than either takes it.
import { createConnection } from 'node:net';
import { encodeRelayFrame, encodeTaken, RELAY, RELAY_DATA, RELAY_WINDOW } from './relay-frames.ts';

/** A connection that the relay opened. */
export type RelayConnection = {
  data(bytes: Buffer): void;
  /** The program has said everything. */
  end(): void;
  /** The program's side is gone. */
  reset(): void;
  /** The other side took bytes: as many more may be sent. */
  taken(bytes: number): void;
};

/** Connects to `target` for connection `id`. `send` writes a frame; `over` is called once, when nothing more comes of it. */
export const openRelayConnection = ({
  id,
  target,
  send,
  over,
}: {
  readonly id: number;
  readonly target: string;
  readonly send: (frame: Buffer) => void;
  readonly over: () => void;
}): RelayConnection => {
  const socket = createConnection({ path: target, allowHalfOpen: true });
  let room = RELAY_WINDOW;
  let ended = false;
  let done = false;
  const finish = (): void => {
    if (done) return;
    done = true;
    over();
  };
  const pump = (): void => {
    while (room > 0) {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null) return;
      const now = bytes.subarray(0, Math.min(bytes.length, room));
      if (now.length < bytes.length) socket.unshift(bytes.subarray(now.length));
      room -= now.length;
      for (let at = 0; at < now.length; at += RELAY_DATA)
        send(encodeRelayFrame(RELAY.data, id, now.subarray(at, at + RELAY_DATA)));
    }
  };
  socket.on('readable', pump);
  socket.on('end', () => {
    ended = true;
    send(encodeRelayFrame(RELAY.end, id));
  });
  // The node's broker is away or hung up: the program sees the end of its connection and tries again.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (!ended && !done) send(encodeRelayFrame(RELAY.reset, id));
    finish();
  });
  return {
    data: (bytes) => {
      socket.write(bytes, (failed) => {
        if (failed === undefined || failed === null) send(encodeRelayFrame(RELAY.window, id, encodeTaken(bytes.length)));
      });
    },
    end: () => void socket.end(),
    reset: () => {
      done = true;
      over();
      socket.destroy();
    },
    taken: (bytes) => {
      room += bytes;
      pump();
    },
  };
};
