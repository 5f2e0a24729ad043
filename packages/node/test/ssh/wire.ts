// A line between a client and a server on loopback that a test can cut, or hold as a network does that drops packets.
import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** The line. Clients connect to `port`. */
export type Wire = {
  readonly port: number;
  /** Ends every connection at once, as a router that restarts does. Answers how many there were. */
  cut(): number;
  /** While held nothing passes and nobody is told; new connections are taken and stay silent. */
  hold(): void;
  letGo(): void;
  /** While refusing, new connections end at once. */
  refuse(refusing: boolean): void;
  /** Connections there were so far. */
  made(): number;
  close(): Promise<void>;
};

/** Makes a line to the port that `target` names when a connection comes. */
export const openWire = async (target: () => number): Promise<Wire> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  let held = false;
  let refusing = false;
  let made = 0;
  const server = createServer((client) => {
    if (refusing) return void client.destroy();
    made += 1;
    const remote = createConnection({ port: target(), host: '127.0.0.1' });
    const pair = [client, remote] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [remote, client] as const]) {
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
      from.pipe(to);
      if (held) from.pause();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const each = (act: (socket: Socket) => void): number => {
    const now = [...pairs];
    for (const pair of now) pair.forEach(act);
    return now.length;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => each((socket) => socket.destroy()),
    hold: () => {
      held = true;
      each((socket) => socket.pause());
    },
    letGo: () => {
      held = false;
      each((socket) => socket.resume());
    },
    refuse: (on) => {
      refusing = on;
    },
    made: () => made,
    close: () => {
      each((socket) => socket.destroy());
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
};
