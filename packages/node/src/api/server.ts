import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { OrreryError } from '@orrery/protocol/errors';
import type { Hono } from 'hono';
import { HTTP_CLOSE_MS, HTTP_HEADERS_MS, HTTP_REQUEST_MS } from '../kernel/limits.ts';
import { checkBind } from './guard.ts';
import type { Streams } from './streams.ts';
import type { Upgrades } from './upgrades.ts';

/** A listening API. */
export type ApiServer = {
  /** `http://127.0.0.1:4747`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, ends the streams, lets requests that run end (a few seconds), then cuts what is left. */
  close(): Promise<void>;
};

export type ServeParts = {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  readonly streams: Pick<Streams, 'close'>;
  readonly upgrades: Pick<Upgrades, 'take' | 'close'>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Said aloud by the operator: listen where others can reach, without TLS. */
  readonly insecureBind: boolean;
  /** How long requests that run have to end at `close`. */
  readonly closeMs?: number;
};

/** Listens. Rejects with `refused_by_policy` for an address that others can reach, or `conflict` when the port is taken. */
export const serveApi = async ({
  app,
  streams,
  upgrades,
  host,
  port,
  insecureBind,
  closeMs = HTTP_CLOSE_MS,
}: ServeParts): Promise<ApiServer> => {
  checkBind({ host, insecureBind });
  const serverOptions = { requestTimeout: HTTP_REQUEST_MS, headersTimeout: HTTP_HEADERS_MS, connectionsCheckingInterval: 5_000 };
  const server = createAdaptorServer({ fetch: app.fetch, hostname: host, serverOptions, overrideGlobalObjects: false }) as Server;
  server.on('upgrade', upgrades.take);
  await listening(server, { host, port });
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${urlHost(host)}:${bound.port}`,
    port: bound.port,
    close: () => closing(server, { streams, upgrades, closeMs }),
  };
};

const urlHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
};

const listening = (server: Server, { host, port }: { host: string; port: number }): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (thrown: NodeJS.ErrnoException) => reject(listenError(thrown, { host, port })));
    server.listen({ host: host.replace(/^\[(.*)\]$/, '$1'), port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });

const listenError = (thrown: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): OrreryError => {
  if (thrown.code === 'EADDRINUSE') {
    return new OrreryError('conflict', `Port ${port} of ${host} is taken by another program.`, {
      rule: 'A node listens on one port of its own.',
      fix: 'Choose another (0 takes any that is free): orrery up --listen 127.0.0.1:0',
      cause: thrown,
    });
  }
  return new OrreryError('config_invalid', `The node cannot listen on ${host}:${port} (${thrown.code ?? 'unknown reason'}).`, {
    rule: 'listen.host is an address of this machine; ports below 1024 need privileges.',
    fix: 'orrery config explain listen.host',
    cause: thrown,
  });
};

const closing = async (
  server: Server,
  { streams, upgrades, closeMs }: Pick<ServeParts, 'streams' | 'upgrades'> & { closeMs: number },
): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  streams.close();
  upgrades.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), closeMs);
  await closed;
  clearTimeout(cut);
};
