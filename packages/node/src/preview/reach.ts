// Connections of one preview to its program. Each ends at a program of that environment, because it was made by asking the
// environment; one that is kept for the next request ends at the same program still.

import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { PREVIEW_CONNECTIONS, PREVIEW_KEPT_MS } from './limits.ts';

export type Reach = {
  /** For requests: keeps what is still good for a moment. */
  readonly agent: Agent;
  /** For what stops being HTTP. */
  connect(): Promise<Duplex>;
  close(): void;
};

/** What an agent does to a socket that waits, and has no meaning for a stream that is none. */
const ofSockets = ['ref', 'unref', 'setKeepAlive', 'setNoDelay', 'setTimeout'] as const;

const likeSocket = (connection: Duplex): Duplex => {
  for (const name of ofSockets) if (!(name in connection)) Object.assign(connection, { [name]: () => connection });
  return connection;
};

/** Makes it. `connect` opens a connection into the environment. */
export const createReach = (connect: () => Promise<Duplex>): Reach => {
  const agent = new Agent({ keepAlive: true, maxSockets: PREVIEW_CONNECTIONS, maxFreeSockets: PREVIEW_CONNECTIONS });
  const waiting = new WeakMap<Duplex, () => void>();
  const give = async (hand: (fault: Error | null, connection: Duplex) => void): Promise<void> => {
    const opened = await connect().catch((thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))));
    // The connection is not looked at beside an error.
    if (opened instanceof Error) hand(opened, undefined as never);
    else hand(null, likeSocket(opened));
  };
  agent.createConnection = (_options, callback) => {
    if (callback !== undefined) void give(callback);
    return undefined;
  };
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (connection) => {
    // A program that ends its side will answer nothing more on it.
    const drop = (): void => void connection.destroy();
    const timer = setTimeout(drop, PREVIEW_KEPT_MS);
    connection.once('end', drop);
    waiting.set(connection, () => {
      clearTimeout(timer);
      connection.off('end', drop);
    });
    return keep(connection);
  };
  agent.reuseSocket = (connection, request) => {
    waiting.get(connection)?.();
    reuse(connection, request);
  };
  return { agent, connect, close: () => agent.destroy() };
};
