// Connections that stop being HTTP: bytes to a port of an environment, terminals. They come in by the same door as every
// request: host, origin, token and scope first, and what is refused is answered as JSON.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import type { Caller, Scope } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Admit } from './admit.ts';
import { authorizationOf } from './browser.ts';
import { errorAnswer } from './envelope.ts';
import { checkOrigin, type AllowedHosts } from './guard.ts';

/** A connection that was let in. The route answers it: with `101`, or by throwing before it wrote anything. */
export type UpgradeCall = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
};

export type UpgradeRoute = {
  /** Below `/api/v1`, with `:name` for parameters. */
  readonly path: string;
  /** What the header `Upgrade` must say. */
  readonly protocol: string;
  readonly scope: Scope;
  open(call: UpgradeCall): Promise<void>;
};

export type Upgrades = {
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends every connection that was taken. */
  close(): void;
};

export type UpgradeParts = {
  readonly routes: readonly UpgradeRoute[];
  readonly admit: Admit;
  readonly log: Log;
  readonly hosts?: AllowedHosts;
  /** Name of the cookie of browsers that were let in. */
  readonly cookie?: string;
};

/** A browser cannot send a header with a WebSocket, but it can offer a protocol of this name. */
const TOKEN_PROTOCOL = 'orrery-bearer.';

/** Makes the door. */
export const createUpgrades = ({ routes, admit, log, hosts = [], cookie }: UpgradeParts): Upgrades => {
  const taken = new Set<Duplex>();
  const compiled = routes.map((route) => ({ route, pattern: patternOf(route.path) }));

  const enter = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    checkOrigin({ host: request.headers.host, origin: request.headers.origin }, hosts);
    const url = new URL(request.url ?? '/', 'http://node');
    const protocol = (request.headers.upgrade ?? '').toLowerCase();
    for (const { route, pattern } of compiled) {
      const match = pattern.exec(url.pathname);
      if (match === null || route.protocol !== protocol) continue;
      const address = request.socket.remoteAddress;
      const caller = await admit({ authorization: headerOf(request, cookie), address }, route.scope);
      const params = Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, text]) => [name, decoded(text)]));
      return route.open({ params, query: url.searchParams, caller, request, socket, head });
    }
    throw new OrreryError('not_found', 'There is nothing to connect to at this path.', {
      rule: 'The path and the header Upgrade must be those of a port or a terminal.',
    });
  };

  return {
    take(request, socket, head) {
      taken.add(socket);
      socket.once('close', () => taken.delete(socket));
      socket.on('error', () => socket.destroy());
      enter(request, socket, head).catch((thrown: unknown) => {
        if (toOrreryError(thrown).code === 'internal') log.error('api.upgrade.failed', errorFields(thrown));
        void refuse(socket, thrown);
      });
    },
    close() {
      for (const socket of taken) socket.destroy();
    },
  };
};

const patternOf = (path: string): RegExp =>
  new RegExp(`^/api/v1${path.replaceAll(/:([a-zA-Z]+)/g, (_, name: string) => `(?<${name}>[^/]{1,200})`)}$`);

const decoded = (text: string | undefined): string => {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return text ?? '';
  }
};

const headerOf = ({ headers }: IncomingMessage, name: string | undefined): string | undefined => {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  const token = offered.find((one) => one.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length);
  const authorization = headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
  if (name === undefined) return authorization;
  // It reads and writes: only a page that says where it is from has its cookie counted.
  return authorizationOf(
    { method: 'POST', authorization, cookie: headers.cookie, origin: headers.origin, site: undefined },
    name,
  );
};

/** Says no in HTTP, since nothing else was agreed on yet. */
const refuse = async (socket: Duplex, thrown: unknown): Promise<void> => {
  if (!socket.writable) return void socket.destroy();
  const answer = errorAnswer(thrown);
  const body = await answer.text();
  const headers = [...answer.headers, ['content-length', String(Buffer.byteLength(body))], ['connection', 'close']];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines}\r\n${body}`);
};
