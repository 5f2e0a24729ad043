// What the egress proxy does once a target is allowed: it dials the address it was given and passes bytes.

import { request as requestHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline, Transform, type Duplex } from 'node:stream';
import { readClientHello } from './client-hello.ts';
import type { Target } from './egress-refusal.ts';
import type { EgressRules } from './egress-rules.ts';
import { forwardedAnswerHeaders, proxiedRequestHeaders } from './headers.ts';
import { parseHost } from '../kernel/host-name.ts';
import { CLIENT_HELLO_BYTES, CONNECT_MS, EGRESS_QUIET_MS } from './limits.ts';

/** More than two pipelines and what the sockets' owners add. */
const LISTENERS = 32;

/** Bytes that went to the target and came back, counted as they pass. */
export type Bytes = { sent: number; received: number };

const counter = (count: (bytes: number) => void): Transform =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      count(bytes.length);
      done(null, bytes);
    },
  });

/** One direction that ends well leaves the other open: either side may be done with sending before it is done with reading. */
const onFault =
  (other: Duplex) =>
  (fault: Error | null | undefined): void => {
    if (fault !== null && fault !== undefined) other.destroy();
  };

/** Connects to the first of these addresses that answers; null when none does. */
export const dial = async (addresses: readonly string[], port: number): Promise<Socket | null> => {
  for (const address of addresses) {
    const socket = await dialOne(address, port);
    if (socket !== null) return socket;
  }
  return null;
};

const dialOne = (address: string, port: number): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    const connecting = setTimeout(() => socket.destroy(), CONNECT_MS);
    socket.on('error', () => socket.destroy());
    socket.once('connect', () => {
      clearTimeout(connecting);
      resolve(socket);
    });
    socket.once('close', () => {
      clearTimeout(connecting);
      resolve(null);
    });
  });

export type Tunnel = {
  readonly client: Duplex;
  readonly head: Buffer;
  readonly target: Target;
  /** The connection to the target. */
  readonly server: Socket;
  readonly rules: EgressRules;
  readonly bytes: Bytes;
};

/** Passes bytes both ways; what the client sends waits until its server name was checked. Answers why it was ended, or null. */
export const tunnel = ({ client, head, target, server, rules, bytes }: Tunnel): Promise<string | null> =>
  new Promise((resolve) => {
    let reason: string | null = null;
    // Each pipeline listens to both ends.
    for (const stream of [server, client]) stream.setMaxListeners(LISTENERS);
    server.setTimeout(EGRESS_QUIET_MS, () => server.destroy());
    client.once('close', () => server.destroy());
    server.once('close', () => resolve(reason));
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    pipeline(
      server,
      counter((count) => (bytes.received += count)),
      client,
      onFault(client),
    );
    pipeline(
      client,
      helloGate({ head, target, rules, refuse: (why) => (reason = why) }),
      counter((count) => (bytes.sent += count)),
      server,
      onFault(server),
    );
  });

type Gate = {
  readonly head: Buffer;
  readonly target: Target;
  readonly rules: EgressRules;
  readonly refuse: (reason: string) => void;
};

/** Holds what the client sends until its TLS server name is known and right; what is no TLS passes, but not on port 443. */
const helloGate = ({ head, target, rules, refuse }: Gate): Transform => {
  let held: Buffer | null = Buffer.alloc(0);
  const judge = (gate: Transform, bytes: Buffer): Error | null => {
    if (held === null) return (void gate.push(bytes), null);
    held = Buffer.concat([held, bytes]);
    const verdict = judgeHello(held, target, rules);
    if (verdict === 'more') return held.length > CLIENT_HELLO_BYTES ? deny('its TLS greeting is too long') : null;
    if (verdict !== null) return deny(verdict);
    gate.push(held);
    held = null;
    return null;
  };
  const deny = (reason: string): Error => {
    refuse(reason);
    return new Error(reason);
  };
  const gate = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      done(judge(gate, bytes));
    },
  });
  if (head.length > 0) {
    const early = judge(gate, head);
    if (early !== null) gate.destroy(early);
  }
  return gate;
};

/** Why the greeting is refused; `more`: not all of it is here; null: it is right. */
const judgeHello = (bytes: Buffer, target: Target, rules: EgressRules): string | null => {
  const hello = readClientHello(bytes);
  switch (hello.kind) {
    case 'more':
      return 'more';
    case 'malformed':
      return 'its TLS greeting is malformed';
    case 'not-tls':
      return target.port === 443 ? 'port 443 is for TLS' : null;
    case 'tls':
      return judgeServerName(hello.serverName, target, rules);
  }
};

const judgeServerName = (serverName: string | null, target: Target, rules: EgressRules): string | null => {
  if (serverName === null) return target.host.kind === 'address' ? null : 'its TLS greeting names no server';
  const named = parseHost(serverName);
  if (named?.text === target.host.text) return null;
  const allowed = target.host.kind === 'address' && named !== null && rules.refusal(named, target.port) === null;
  return allowed ? null : 'its TLS greeting names another server';
};

export type Passing = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The connection to the target. */
  readonly server: Socket;
  readonly bytes: Bytes;
};

/** Sends a plain request on and its answer back. Answers why there was none, or null. */
export const passRequest = ({ request, response, server, bytes }: Passing): Promise<string | null> =>
  new Promise((resolve) => {
    const url = new URL(request.url ?? '');
    const upstream = requestHttp({
      createConnection: () => server,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...proxiedRequestHeaders(request.headers), host: url.host },
      timeout: EGRESS_QUIET_MS,
    });
    upstream.once('timeout', () => upstream.destroy());
    response.once('close', () => upstream.destroy());
    pipeline(
      request,
      counter((count) => (bytes.sent += count)),
      upstream,
      () => undefined,
    );
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer));
      pipeline(
        answer,
        counter((count) => (bytes.received += count)),
        response,
        () => {
          server.destroy();
          resolve(null);
        },
      );
    });
    upstream.once('upgrade', (_answer, socket) => socket.destroy());
    upstream.once('error', () => undefined);
    upstream.once('close', () => {
      if (!response.headersSent) resolve('no answer');
    });
  });

/** Cookies of a web server are the program's business. */
const answerHeaders = ({ headers }: IncomingMessage) => ({
  ...forwardedAnswerHeaders(headers),
  ...(headers['set-cookie'] === undefined ? {} : { 'set-cookie': headers['set-cookie'] }),
});
