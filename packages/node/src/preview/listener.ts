import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { PREVIEW_CLIENTS, PREVIEW_HEADER_BYTES, PREVIEW_HEADERS_MS, PREVIEW_IDLE_MS } from './limits.ts';

/** What listens for previews. */
export type PreviewListener = { readonly port: number; close(): Promise<void> };

export type ListenerParts = {
  /** 0: any that is free. */
  readonly port: number;
  /** Whether any other will do when that one is taken. */
  readonly any: boolean;
  take(request: IncomingMessage, response: ServerResponse, port: number): void;
  upgrade(request: IncomingMessage, connection: { readonly socket: Duplex; readonly head: Buffer }, port: number): void;
};

/** Tries to find a port that is free on both addresses of loopback. */
const TRIES = 20;

/**
 * Listens on both addresses of loopback, and on no other: a browser may try either for a name below `localhost`, and on the
 * one left free another user of the machine could listen in the node's place. @throws OrreryError conflict
 */
export const listenForPreviews = async (parts: ListenerParts): Promise<PreviewListener> => {
  for (let left = TRIES; ; left--) {
    const wanted = left === TRIES ? parts.port : 0;
    try {
      return await listenOn(parts, wanted);
    } catch (thrown) {
      const taken = thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE';
      if (taken && left > 0 && (wanted === 0 || parts.any)) continue;
      throw new OrreryError('conflict', `The node cannot listen for previews on port ${wanted}.`, {
        rule: 'Previews have a port of their own, free on 127.0.0.1 and on ::1.',
        fix: 'orrery config explain listen.previewPort',
        cause: thrown,
      });
    }
  }
};

const listenOn = async (parts: ListenerParts, port: number): Promise<PreviewListener> => {
  const sockets = new Set<Duplex>();
  const first = await listening(serverOf(parts, sockets), { host: '127.0.0.1', port });
  const bound = (first.address() as AddressInfo).port;
  const closeAll = (servers: readonly Server[]) => async (): Promise<void> => {
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const server of servers) server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  };
  try {
    const second = await listening(serverOf(parts, sockets), { host: '::1', port: bound });
    return { port: bound, close: closeAll([first, second]) };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null;
    // A machine without IPv6: nobody can listen there.
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return { port: bound, close: closeAll([first]) };
    await closeAll([first])();
    throw thrown;
  }
};

const serverOf = ({ take, upgrade }: ListenerParts, sockets: Set<Duplex>): Server => {
  const server = createServer({
    maxHeaderSize: PREVIEW_HEADER_BYTES,
    headersTimeout: PREVIEW_HEADERS_MS,
    // Uploads take as long as they take; what says nothing is ended by the idle time.
    requestTimeout: 0,
    keepAliveTimeout: 30_000,
    connectionsCheckingInterval: 5_000,
  });
  server.maxConnections = PREVIEW_CLIENTS;
  server.setTimeout(PREVIEW_IDLE_MS);
  const portOf = (): number => (server.address() as AddressInfo | null)?.port ?? 0;
  server.on('request', (request, response) => take(request, response, portOf()));
  server.on('upgrade', (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    upgrade(request, { socket, head }, portOf());
  });
  return server;
};

const listening = (server: Server, at: { readonly host: string; readonly port: number }): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...at, exclusive: true }, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
