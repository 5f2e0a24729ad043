// The egress proxy: CONNECT and plain HTTP to hosts of an environment's list, nothing else. It resolves names itself, after
// the decision, and dials the very address it looked at.

import { request as requestHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline, Transform, type Duplex } from 'node:stream';
import type { AuditRecord } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { readClientHello } from './client-hello.ts';
import { createEgressRules, type EgressRules } from './egress-rules.ts';
import { egressTokenOf, forwardedAnswerHeaders, proxiedRequestHeaders } from './headers.ts';
import { parseAuthority, parseHost, type Host } from './host-name.ts';
import { CLIENT_HELLO_BYTES, CONNECT_MS, EGRESS_PER_ENVIRONMENT, EGRESS_QUIET_MS } from './limits.ts';
import type { TokenIdentity } from './model.ts';
import type { RunTokens } from './run-tokens.ts';

/** Resolves a name to its addresses; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type EgressParts = {
  readonly tokens: Pick<RunTokens, 'find'>;
  /** The operator's denials, asked at each request. */
  readonly deny: () => readonly string[];
  readonly resolve: Resolve;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly audit: (record: AuditRecord) => void;
};

export type EgressProxy = {
  connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void>;
  /** A request whose target is a whole URL. */
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every connection of an environment. */
  endConnections(environmentId: string): void;
};

type EgressAction = 'egress.connect' | 'egress.http';
type Target = { readonly host: Host; readonly port: number };
type Denial = { readonly status: 400 | 403 | 407 | 429 | 502; readonly reason: string };
type Pass = { readonly identity: TokenIdentity; readonly rules: EgressRules };
type Bytes = { sent: number; received: number };

const PHRASES: Readonly<Record<Denial['status'], string>> = {
  400: 'bad-request',
  403: 'egress-denied',
  407: 'egress-token-needed',
  429: 'egress-busy',
  502: 'egress-unreachable',
};

/** `egress-denied: HOST`, which programs print as the reason of their failure. */
const phraseOf = ({ status }: Denial, target: Target | null): string =>
  target === null ? PHRASES[status] : `${PHRASES[status]}: ${target.host.text}`;

const textOf = ({ reason, status }: Denial, target: Target | null): string => {
  const where = target === null ? 'The request' : `${target.host.text}:${target.port}`;
  const fix =
    status === 403 && target !== null
      ? ` To allow it, add ${target.port === 443 || target.port === 80 ? target.host.text : `${target.host.text}:${target.port}`} to egress in the project's file.`
      : '';
  return `Orrery: ${where} is refused: ${reason}.${fix}\n`;
};

/** Makes the proxy. */
export const createEgressProxy = (parts: EgressParts): EgressProxy => {
  const open = new Map<string, Set<{ destroy(): void }>>();

  /** Who asks and whether the target is allowed; the names are not resolved before. */
  const decide = async (request: IncomingMessage, target: Target | null): Promise<Pass | Denial> => {
    const token = egressTokenOf(request.headers);
    const found = token === null ? null : await parts.tokens.find(token, 'egress');
    if (found?.state !== 'live') return { status: 407, reason: 'it needs the egress token of a live environment' };
    const { identity } = found;
    if (target === null) return { status: 400, reason: 'its target is no host and port' };
    if ((open.get(identity.environmentId)?.size ?? 0) >= EGRESS_PER_ENVIRONMENT)
      return { status: 429, reason: `the environment has ${EGRESS_PER_ENVIRONMENT} connections open` };
    const rules = createEgressRules({ allow: identity.grants.egress, deny: parts.deny() });
    const refusal = rules.refusal(target.host, target.port);
    return refusal === null ? { identity, rules } : { status: 403, reason: refusal };
  };

  const addressFor = async (target: Target, rules: EgressRules): Promise<string | Denial> => {
    const addresses = target.host.kind === 'address' ? [target.host.text] : await parts.resolve(target.host.text).catch(() => []);
    if (addresses.length === 0) return { status: 502, reason: 'its name cannot be resolved' };
    return (
      addresses.find((address) => rules.mayDial(address, target.port)) ?? {
        status: 403,
        reason: 'it leads to a private address that no rule names',
      }
    );
  };

  const register = (
    environmentId: string,
    connection: { destroy(): void; once(event: 'close', listener: () => void): unknown },
  ): void => {
    const connections = open.get(environmentId) ?? new Set();
    open.set(environmentId, connections.add(connection));
    connection.once('close', () => {
      connections.delete(connection);
      if (connections.size === 0 && open.get(environmentId) === connections) open.delete(environmentId);
    });
  };

  const note = (line: {
    readonly action: EgressAction;
    readonly pass: TokenIdentity | null;
    readonly target: Target | null;
    readonly outcome: AuditRecord['outcome'];
    readonly reason: string | null;
    readonly bytes: Bytes;
  }): void => {
    parts.audit({
      actor: line.pass === null ? 'unknown' : `task:${line.pass.taskId}`,
      action: line.action,
      subject: line.target === null ? '' : `${line.target.host.text}:${line.target.port}`,
      outcome: line.outcome,
      detail: { reason: line.reason, sent: line.bytes.sent, received: line.bytes.received },
    });
  };

  /** Decides and resolves; a refusal is noted and told by `refuse`. */
  const admit = async (asked: {
    readonly request: IncomingMessage;
    readonly target: Target | null;
    readonly action: EgressAction;
    readonly refuse: (denial: Denial) => void;
  }): Promise<(Pass & { readonly target: Target; readonly address: string }) | null> => {
    const { request, target, action, refuse } = asked;
    const pass = await decide(request, target);
    const address = 'status' in pass || target === null ? null : await addressFor(target, pass.rules);
    const denial = 'status' in pass ? pass : typeof address === 'string' ? null : address;
    if (denial === null && !('status' in pass) && target !== null && typeof address === 'string')
      return { ...pass, target, address };
    if (denial !== null) {
      note({
        action,
        pass: 'status' in pass ? null : pass.identity,
        target,
        outcome: denial.status === 502 ? 'failed' : 'refused',
        reason: denial.reason,
        bytes: { sent: 0, received: 0 },
      });
      refuse(denial);
    }
    return null;
  };

  return {
    async connect(request, client, head) {
      client.on('error', () => client.destroy());
      const target = parseAuthority(request.url ?? '');
      const admitted = await admit({
        request,
        target,
        action: 'egress.connect',
        refuse: (denial) => refuseTunnel(client, denial, target),
      });
      if (admitted === null || client.destroyed) return;
      register(admitted.identity.environmentId, client);
      const bytes: Bytes = { sent: 0, received: 0 };
      const reason = await tunnel({
        client,
        head,
        target: admitted.target,
        address: admitted.address,
        rules: admitted.rules,
        bytes,
      });
      note({
        action: 'egress.connect',
        pass: admitted.identity,
        target,
        outcome: reason === null ? 'done' : reason === 'unreachable' ? 'failed' : 'refused',
        reason,
        bytes,
      });
    },
    async forward(request, response) {
      const target = plainTarget(request.url ?? '');
      const admitted = await admit({
        request,
        target,
        action: 'egress.http',
        refuse: (denial) => refuseRequest(request, response, { denial, target }),
      });
      if (admitted === null || response.destroyed) return;
      register(admitted.identity.environmentId, response);
      const bytes: Bytes = { sent: 0, received: 0 };
      const reason = await passRequest({ request, response, target: admitted.target, address: admitted.address, bytes });
      if (reason !== null) refuseRequest(request, response, { denial: { status: 502, reason: 'it cannot be reached' }, target });
      note({
        action: 'egress.http',
        pass: admitted.identity,
        target,
        outcome: reason === null ? 'done' : 'failed',
        reason,
        bytes,
      });
    },
    endConnections(environmentId) {
      for (const connection of open.get(environmentId) ?? []) connection.destroy();
    },
  };
};

/** Host and port of a plain HTTP request to a proxy; other schemes have no business here. */
const plainTarget = (text: string): Target | null => {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const host = parseHost(url.hostname.replace(/^\[|\]$/g, ''));
  return host === null ? null : { host, port: url.port === '' ? 80 : Number(url.port) };
};

const refuseTunnel = (client: Duplex, denial: Denial, target: Target | null): void => {
  const body = textOf(denial, target);
  const challenge = denial.status === 407 ? 'Proxy-Authenticate: Basic realm="orrery egress"\r\n' : '';
  client.end(
    `HTTP/1.1 ${denial.status} ${phraseOf(denial, target)}\r\n${challenge}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
};

const refuseRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  { denial, target }: { readonly denial: Denial; readonly target: Target | null },
): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const challenge = denial.status === 407 ? { 'proxy-authenticate': 'Basic realm="orrery egress"' } : {};
  response.writeHead(denial.status, phraseOf(denial, target), {
    'content-type': 'text/plain',
    ...challenge,
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(textOf(denial, target));
};

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

type Tunnel = {
  readonly client: Duplex;
  readonly head: Buffer;
  readonly target: Target;
  readonly address: string;
  readonly rules: EgressRules;
  readonly bytes: Bytes;
};

/** Dials, then passes bytes both ways; what the client sends waits until its server name was checked. Answers why it was ended, or null. */
const tunnel = ({ client, head, target, address, rules, bytes }: Tunnel): Promise<string | null> =>
  new Promise((resolve) => {
    const server = connect({ host: address, port: target.port, allowHalfOpen: true });
    const connecting = setTimeout(() => server.destroy(), CONNECT_MS);
    let reason: string | null = null;
    let connected = false;
    server.setTimeout(EGRESS_QUIET_MS, () => server.destroy());
    server.once('connect', () => {
      connected = true;
      clearTimeout(connecting);
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
    server.on('error', () => server.destroy());
    client.once('close', () => server.destroy());
    server.once('close', () => {
      clearTimeout(connecting);
      if (!connected) refuseTunnel(client, { status: 502, reason: 'it cannot be reached' }, target);
      resolve(connected ? reason : 'unreachable');
    });
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

type Passing = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly address: string;
  readonly bytes: Bytes;
};

/** Sends a plain request on and its answer back; answers why there was none, or null. */
const passRequest = ({ request, response, target, address, bytes }: Passing): Promise<string | null> =>
  new Promise((resolve) => {
    const url = new URL(request.url ?? '');
    const upstream = requestHttp({
      host: address,
      port: target.port,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...proxiedRequestHeaders(request.headers), host: url.host },
      timeout: EGRESS_QUIET_MS,
      agent: false,
    });
    const connecting = setTimeout(() => upstream.destroy(), CONNECT_MS);
    upstream.once('socket', (socket: Socket) => socket.once('connect', () => clearTimeout(connecting)));
    upstream.once('timeout', () => upstream.destroy());
    response.once('close', () => upstream.destroy());
    pipeline(
      request,
      counter((count) => (bytes.sent += count)),
      upstream,
      () => undefined,
    );
    upstream.once('response', (answer) => {
      clearTimeout(connecting);
      response.writeHead(answer.statusCode ?? 502, forwardedAnswerHeadersWithCookies(answer));
      pipeline(
        answer,
        counter((count) => (bytes.received += count)),
        response,
        () => resolve(null),
      );
    });
    upstream.once('upgrade', (_answer, socket) => socket.destroy());
    upstream.once('error', () => undefined);
    upstream.once('close', () => {
      clearTimeout(connecting);
      if (!response.headersSent) resolve('unreachable');
    });
  });

/** Cookies of a web server are the program's business. */
const forwardedAnswerHeadersWithCookies = ({ headers }: IncomingMessage) => ({
  ...forwardedAnswerHeaders(headers),
  ...(headers['set-cookie'] === undefined ? {} : { 'set-cookie': headers['set-cookie'] }),
});
