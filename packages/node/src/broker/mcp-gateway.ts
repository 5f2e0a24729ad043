// The way to the operator's MCP servers: a run token in, the server's own credential out, every byte of the answer passed as it comes.
// Only servers that the token names are there, and only at the one address that the operator gave.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AuditRecord } from '../audit/index.ts';
import type { Connections } from './connections.ts';
import { forwardedRequestHeaders } from './headers.ts';
import { MCP_CALLS_PER_ENVIRONMENT, MCP_REQUEST_BYTES } from './limits.ts';
import type { TokenIdentity } from './model.ts';
import { passAnswer } from './pass-answer.ts';
import type { Provider } from './providers.ts';
import { readBody } from './request-body.ts';
import { runCaller } from './run-caller.ts';
import type { RunTokens } from './run-tokens.ts';
import { isUpstreamFault, type Upstream } from './upstream.ts';

type McpGatewayParts = {
  readonly tokens: Pick<RunTokens, 'find'>;
  readonly connections: Pick<Connections, 'prove'>;
  /** The operator's server of a name; null: there is none. Asked at each request. */
  readonly server: (name: string) => Provider | null;
  readonly upstream: Upstream;
  readonly audit: (record: AuditRecord) => void;
};

export type McpGateway = {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every request of an environment. */
  endCalls(environmentId: string): void;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly name: string };

const TARGET = /^\/mcp\/([a-z0-9][a-z0-9_-]{0,31})$/;
const METHODS = new Set(['GET', 'POST', 'DELETE']);

/** Says no as JSON-RPC does where there is no id. The connection is closed when the request was not read to its end. */
const refuse = ({ request, response }: Omit<Exchange, 'name'>, status: number, message: string): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const rest = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': 'application/json', ...rest });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: `Orrery: ${message}` } }));
};

/** A server that wants somebody to log in is refused to the program: the credential is the operator's to give. */
const passedHeaders = (answer: IncomingMessage): void => {
  delete answer.headers['www-authenticate'];
};

/** Makes the handler of `/mcp/<name>`. */
export const createMcpGateway = (parts: McpGatewayParts): McpGateway => {
  const running = new Map<string, Set<AbortController>>();

  const authenticated = (exchange: Exchange): Promise<TokenIdentity | null> =>
    runCaller(parts, exchange.request, {
      action: 'mcp.call',
      subject: exchange.name,
      refuse: (message) => refuse(exchange, 401, message),
    });

  const serverFor = (exchange: Exchange, { taskId, grants }: TokenIdentity): Provider | null => {
    const { name } = exchange;
    const server = grants.mcp?.includes(name) === true ? parts.server(name) : null;
    if (server !== null) return server;
    const detail = { reason: 'not granted' };
    parts.audit({ actor: `task:${taskId}`, action: 'mcp.call', subject: name, outcome: 'refused', detail });
    refuse(exchange, 404, `The agent that runs here has no server ${name}.`);
    return null;
  };

  const pass = async (exchange: Exchange, server: Provider, signal: AbortSignal): Promise<void> => {
    const { request, response, name } = exchange;
    const read = await readBody(request, MCP_REQUEST_BYTES);
    if (read.kind === 'gone') return;
    if (read.kind === 'too-large') return refuse(exchange, 413, `A request may have ${MCP_REQUEST_BYTES} bytes.`);
    const key = await server.key();
    if (key === null && server.keyStyle !== 'none')
      return refuse(exchange, 503, `There is no credential for ${name}; its operator sets it: orrery secret set ${name}`);
    try {
      const headers: OutgoingHttpHeaders = forwardedRequestHeaders(request.headers);
      const { method = 'GET' } = request;
      const { pathname, search } = server.baseUrl;
      const path = `${pathname.endsWith('/') ? '/' : ''}${search}`;
      const answer = await parts.upstream.send({ provider: server, key, method, path, headers, body: read.bytes, signal });
      passedHeaders(answer);
      await passAnswer(answer, response, () => undefined);
    } catch (thrown) {
      if (!isUpstreamFault(thrown)) throw thrown;
      if (thrown.kind !== 'gone') refuse(exchange, 502, `The server ${name} cannot be reached.`);
    }
  };

  const counted = async (exchange: Exchange, server: Provider, environmentId: string): Promise<void> => {
    const calls = running.get(environmentId) ?? new Set();
    if (calls.size >= MCP_CALLS_PER_ENVIRONMENT)
      return refuse(exchange, 503, `This environment has ${MCP_CALLS_PER_ENVIRONMENT} requests to MCP servers under way.`);
    const abort = new AbortController();
    running.set(environmentId, calls.add(abort));
    exchange.response.once('close', () => {
      if (!exchange.response.writableFinished) abort.abort();
    });
    try {
      await pass(exchange, server, abort.signal);
    } finally {
      calls.delete(abort);
      if (calls.size === 0) running.delete(environmentId);
      if (abort.signal.aborted) exchange.response.destroy();
    }
  };

  return {
    async handle(request, response) {
      const name = TARGET.exec(request.url ?? '')?.[1];
      if (name === undefined) return refuse({ request, response }, 404, 'There is no MCP server of that name.');
      if (!METHODS.has(request.method ?? ''))
        return refuse({ request, response }, 405, 'An MCP server takes GET, POST and DELETE.');
      const exchange = { request, response, name };
      const identity = await authenticated(exchange);
      if (identity === null) return;
      const full = parts.connections.prove(request.socket, identity.environmentId);
      if (full !== null) {
        response.setHeader('connection', 'close');
        return refuse(exchange, 503, `No room for this connection: ${full}.`);
      }
      const server = serverFor(exchange, identity);
      if (server !== null) await counted(exchange, server, identity.environmentId);
    },
    endCalls(environmentId) {
      for (const call of running.get(environmentId) ?? []) call.abort();
    },
  };
};
