// Passes a request on to the program of a preview and its answer back, both as they come.

import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline, type Duplex } from 'node:stream';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { joinStreams } from '../kernel/join-streams.ts';
import { onFailure } from '../kernel/request-failure.ts';
import { framingOf, requestHeaders, responseHeaders, type Sides } from './headers.ts';
import { PREVIEW_HEADER_BYTES, PREVIEW_IDLE_MS } from './limits.ts';
import { answerOf, unreachable, type Page } from './pages.ts';
import type { Reach } from './reach.ts';

/** What a request is passed on by. */
export type Passing = { readonly reach: Reach; readonly sides: Sides };

/** Answers a request with a page of the node's own. */
export const showPage = (page: Page, request: IncomingMessage, response: ServerResponse): void => {
  if (response.headersSent) return void response.destroy();
  const { status, text, headers, body } = answerOf(page, request);
  // What was not read of the request is not waited for.
  response.writeHead(status, text, request.complete ? headers : { ...headers, connection: 'close' });
  response.end(request.method === 'HEAD' ? undefined : body);
};

/** The same on a connection that was to stop being HTTP. */
export const showPageOn = (page: Page, request: IncomingMessage, socket: Duplex): void => {
  if (!socket.writable) return void socket.destroy();
  const { status, text, headers, body } = answerOf(page, request);
  socket.end(`${headOf(status, text, Object.entries({ ...headers, connection: 'close' }).flat())}${body}`);
};

const headOf = (status: number, text: string, flat: readonly string[]): string => {
  const lines = flat.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`));
  return `HTTP/1.1 ${status} ${text}\r\n${lines.join('')}\r\n`;
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Passes on one request. Resolves when it is over, however it ended. */
export const passRequest = (request: IncomingMessage, response: ServerResponse, passing: Passing): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve);
    send(request, response, { ...passing, again: !hasBody(request) });
  });

const optionsOf = (request: IncomingMessage, sides: Sides, framing: readonly string[]) => ({
  host: 'localhost',
  port: sides.port,
  method: request.method ?? 'GET',
  path: request.url ?? '/',
  headers: requestHeaders({ raw: request.rawHeaders, sides, client: request.socket.remoteAddress, framing }),
  maxHeaderSize: PREVIEW_HEADER_BYTES,
});

const send = (request: IncomingMessage, response: ServerResponse, given: Passing & { readonly again: boolean }): void => {
  const { reach, sides, again } = given;
  const { method = 'GET', headers } = request;
  const chunked = headers['transfer-encoding'] !== undefined;
  const framing = framingOf({ method, chunked, sized: headers['content-length'] !== undefined });
  const upstream = httpRequest({ ...optionsOf(request, sides, framing), agent: reach.agent });
  let complete = false;
  // A request that is over has given its connection back: another may have it now.
  const leave = (): void => {
    if (!complete || !upstream.writableFinished) upstream.destroy();
  };
  response.once('close', leave);
  onFailure(upstream, (thrown) => {
    response.off('close', leave);
    if (response.destroyed || response.writableEnded) return;
    // A connection that was kept may have been closed meanwhile: the program has seen nothing of the request then.
    if (again && upstream.reusedSocket && thrown.code === 'ECONNRESET' && !response.headersSent)
      return send(request, response, { ...given, again: false });
    showPage(unreachable(asReached(thrown, sides.port)), request, response);
  });
  upstream.on('response', (answer) => {
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', responseHeaders(answer.rawHeaders, sides));
    response.flushHeaders();
    answer.once('end', () => {
      complete = answer.complete;
    });
    // An answer that is cut is cut for the browser too.
    pipeline(answer, response, () => undefined);
  });
  if (hasBody(request)) request.pipe(upstream);
  else upstream.end();
};

/** A fault of the connection, told as what it is: the program's. */
const asReached = (thrown: NodeJS.ErrnoException, port: number): OrreryError => {
  if (thrown instanceof OrreryError || thrown.code === undefined) return toOrreryError(thrown);
  return new OrreryError('backend_unreachable', `The program on port ${port} did not answer the request (${thrown.code}).`, {
    rule: 'A preview passes on HTTP/1.1 without TLS, as the program speaks it.',
    fix: 'Look at what the program printed.',
    cause: thrown,
  });
};

/** Passes on a connection that becomes a WebSocket. Resolves when it is over. */
export const passUpgrade = async (
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  { reach, sides }: Passing,
): Promise<void> => {
  const connection = await reach.connect();
  if (!socket.writable) return void connection.destroy();
  const over = Promise.withResolvers<void>();
  const framing = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];
  const upstream = httpRequest({ ...optionsOf(request, sides, framing), createConnection: () => connection });
  socket.once('close', () => {
    connection.destroy();
    over.resolve();
  });
  upstream.on('error', (thrown: NodeJS.ErrnoException) =>
    showPageOn(unreachable(asReached(thrown, sides.port)), request, socket),
  );
  upstream.on('response', (answer) => {
    socket.write(
      headOf(answer.statusCode ?? 502, answer.statusMessage ?? '', [
        ...responseHeaders(answer.rawHeaders, sides),
        'connection',
        'close',
      ]),
    );
    pipeline(answer, socket, () => undefined);
  });
  upstream.on('upgrade', (answer, inside, first) => {
    const headers = [...responseHeaders(answer.rawHeaders, sides), ...framing];
    socket.write(headOf(101, answer.statusMessage ?? 'Switching Protocols', headers));
    if (first.length > 0) socket.write(first);
    if (head.length > 0) inside.write(head);
    void joinStreams(socket, inside);
  });
  upstream.end();
  await over.promise;
};

/** Ends a connection on which nobody says anything for long. */
export const endWhenIdle = (request: IncomingMessage): void => {
  const { socket } = request;
  socket.setTimeout(PREVIEW_IDLE_MS, () => socket.destroy());
};
