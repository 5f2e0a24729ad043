import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type WebSocket } from 'ws';
import type { PreviewLink } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { joinStreams } from '../src/kernel/join-streams.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createPreviews } from '../src/preview/index.ts';
import { startInlineWriter } from '../src/store/sqlite/inline-writer.ts';
import { openStore } from '../src/store/sqlite/open-store.ts';
import type { Store } from '../src/store/store.ts';

/** An answer, read to its end. */
export type Told = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly raw: readonly string[];
  readonly body: Buffer;
};

/** Previews of environments whose programs listen in this process. */
export type PreviewPlace = {
  readonly store: Store;
  /** Lets a program listen in an environment, on a port as its environment sees it. */
  serve(at: { readonly environmentId: string; readonly port: number }, listener: RequestListener): Promise<Server>;
  /** Nothing of the environment listens there any more. */
  stop(at: { readonly environmentId: string; readonly port: number }): void;
  open(environmentId: string, port: number): Promise<PreviewLink>;
  /** Opens a preview and follows its link: answers its origin and the cookie that lets in. */
  enter(environmentId: string, port: number): Promise<{ readonly origin: string; readonly cookie: string }>;
  close(): Promise<void>;
};

/** How the connections into environments look: as sockets, or as streams that are none. */
export type Kind = 'sockets' | 'streams';

const listenOn = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

const dial = (port: number, kind: Kind): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      if (kind === 'sockets') return resolve(socket);
      const [near, far] = duplexPair();
      void joinStreams(socket, far);
      resolve(near);
    });
  });

const nobody = (environmentId: string, port: number): OrreryError =>
  new OrreryError('not_found', `No program of the environment ${environmentId} listens on port ${port}.`, {
    rule: 'A port leads to programs of its own environment and to nobody else.',
    fix: 'Start the program there.',
    details: { port },
  });

/** Sends one request to this machine with the host of an address, as a browser does, and reads the answer. */
export const ask = async (
  url: string,
  given: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer } = {},
): Promise<Told> => {
  const { host, port, pathname, search } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    host: '127.0.0.1',
    port: Number(port),
    method: given.method ?? 'GET',
    path: `${pathname}${search}`,
    headers: { host, ...given.headers },
    agent: false,
  });
  sent.on('error', reject).on('response', resolve);
  sent.end(given.body);
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, raw: answer.rawHeaders, body: await buffer(answer) };
};

/** Makes it, with a listener of its own on any port. */
export const createPreviewPlace = async (kind: Kind = 'sockets'): Promise<PreviewPlace> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-preview-'));
  const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
  const store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log,
    startWriter: startInlineWriter,
  });
  const programs = new Map<string, { readonly server: Server; readonly port: number }>();
  const nameOf = (at: { readonly environmentId: string; readonly port: number }): string => `${at.environmentId} ${at.port}`;
  const previews = createPreviews({
    places: { find: async (environmentId) => ({ environmentId }) as never },
    forwarding: {
      open: async (environmentId, port) => {
        const program = programs.get(nameOf({ environmentId, port }));
        if (program === undefined) throw nobody(environmentId, port);
        return dial(program.port, kind);
      },
    },
    store,
    clock: systemClock,
    random: systemRandom,
    log,
    port: () => 0,
    anyPort: () => true,
  });
  const stop: PreviewPlace['stop'] = (at) => {
    const program = programs.get(nameOf(at));
    programs.delete(nameOf(at));
    program?.server.close();
    program?.server.closeAllConnections();
  };
  const open: PreviewPlace['open'] = (environmentId, port) =>
    previews.handlers.previewOpen({
      params: { id: environmentId, port },
      query: {},
      body: {},
      caller: { name: 'somebody', scope: 'operator' },
    });
  return {
    store,
    stop,
    open,
    async serve(at, listener) {
      const server = createServer(listener);
      programs.set(nameOf(at), { server, port: await listenOn(server) });
      return server;
    },
    async enter(environmentId, port) {
      const { link, origin } = await open(environmentId, port);
      const told = await ask(link);
      return { origin, cookie: (told.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '' };
    },
    async close() {
      await previews.close();
      for (const name of programs.keys()) {
        const [environmentId = '', port] = name.split(' ');
        stop({ environmentId, port: Number(port) });
      }
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
};

/** Names below localhost are this machine for browsers; the resolver of a system may not know that. */
export const toLoopback: LookupFunction = (_name, { all }, callback) =>
  all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);

/** The status that a WebSocket was refused with. */
export const refusalOf = async (socket: WebSocket): Promise<number> => {
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  answer.resume();
  socket.on('error', () => undefined);
  socket.terminate();
  return answer.statusCode ?? 0;
};
