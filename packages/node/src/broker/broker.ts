// The broker on its Unix socket: model gateway and egress proxy behind one door, each with its own token.

import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { lookup } from 'node:dns/promises';
import type { Duplex } from 'node:stream';
import { appendAudit, type AuditRecord } from '../audit/index.ts';
import type { GatewayFailure } from '../harness/harness.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import type { Store, Tx } from '../store/store.ts';
import { askModel, type Question } from './ask-model.ts';
import { createCallLedger, type CallLedger } from './call-ledger.ts';
import { createEgressControl, type EgressControl } from './egress-control.ts';
import { tellRefusals } from './egress-events.ts';
import { createEgressProxy, type Resolve } from './egress-proxy.ts';
import { createFailureMemory } from './failure-memory.ts';
import { closingAnswer, createConnections, type Connections } from './connections.ts';
import { BROKER_CONNECTIONS, HEADER_BYTES, HEADERS_MS, PROVIDER_QUIET_MS, REFUSAL_AUDIT_MS, REQUEST_MS } from './limits.ts';
import type { LimitReport } from './model.ts';
import { createMcpGateway, type McpGateway } from './mcp-gateway.ts';
import { createModelGateway } from './model-gateway.ts';
import { createPriceTable, type PriceTable } from './prices.ts';
import { createOwnQuestions, type OwnQuestions } from './own-questions.ts';
import type { FindPayment, Provider, Providers } from './providers.ts';
import { createRemembered } from './remembered.ts';
import { createRunTokens, type MintRequest } from './run-tokens.ts';
import { listenAt } from './socket-file.ts';
import { createUpstream } from './upstream.ts';

export type BrokerParts = {
  /** Unix socket in the data directory. */
  readonly socketPath: string;
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  /** Asked at each call, so that a changed configuration holds at once; the same for the others. */
  readonly providers: () => Providers;
  /** Logins of agent programs that pay their calls. Absent: none do. */
  readonly payment?: FindPayment;
  /** MCP servers of the operator, by name. Absent: none. */
  readonly mcpServer?: (name: string) => Provider | null;
  readonly prices?: () => PriceTable;
  /** Hosts that no environment may reach, whatever its own list says. */
  readonly egressDeny?: () => readonly string[];
  /** Told what a provider says of its limits, whichever program made the call. */
  readonly onLimits?: (report: LimitReport) => void;
  /** Default: the machine's resolver. */
  readonly resolve?: Resolve;
  /** Silence of a provider after which a call is ended, ms. */
  readonly providerQuietMs?: () => number;
  /** Time from connecting until the headers of a request have come, ms. */
  readonly headersMs?: number;
};

/** The broker of a node. */
export type Broker = {
  readonly socketPath: string;
  readonly tokens: {
    /** Two fresh tokens for an environment; earlier ones of it end. @throws OrreryError config_invalid for an egress rule that is none */
    mint(asked: MintRequest): Promise<{ readonly run: string; readonly egress: string }>;
    /** Changes what the calls of an environment may cost, in a transaction; `changed` is called after its commit. */
    setBudget(tx: Tx, environmentId: string, budgetUsd: number | null): Promise<void>;
    changed(environmentId: string): void;
    /** Ends the tokens, calls and connections of an environment; resolves when its calls are recorded. Repeatable. */
    end(environmentId: string): Promise<void>;
  };
  readonly egress: EgressControl;
  /** The failure of an environment's newest model call, if it ended at or after `sinceMs`. */
  lastFailure(environmentId: string, sinceMs: number): GatewayFailure | null;
  /** A turn begins in an environment: its calls are made whatever the ones before came to. */
  forgetFailure(environmentId: string): void;
  /** Whether a call of the task was refused for its budget since this node started. */
  budgetRefused(taskId: string): boolean;
  /** Asks the model that answered the agent of an environment last. @throws OrreryError agent_failed */
  ask(question: Question): Promise<string>;
  /** Resolves when every call so far of the environment is recorded. */
  settled(environmentId: string): Promise<void>;
  close(): Promise<void>;
};

const lookupAll: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** Starts the broker. @throws OrreryError node_already_running, config_invalid */
export const createBroker = async (parts: BrokerParts): Promise<Broker> => {
  const { store, clock, log } = parts;
  const audit = onceInAWhile(auditInto(parts), clock);
  const tokens = createRunTokens({ store, clock, random: parts.random, ids: parts.ids });
  const ledger = createCallLedger({ store, log });
  const failures = createFailureMemory(clock);
  const upstream = createUpstream({ quietMs: parts.providerQuietMs ?? (() => PROVIDER_QUIET_MS) });
  const connections = createConnections({ log, clock });
  const own = createOwnQuestions(parts.random);
  const gateway = createModelGateway({
    tokens,
    connections,
    ...paying(parts, own),
    ledger,
    failures,
    upstream,
    clock,
    audit,
    onLimits: parts.onLimits ?? (() => undefined),
  });
  const mcp = createMcpGateway({ tokens, connections, server: parts.mcpServer ?? (() => null), upstream, audit });
  const deny = parts.egressDeny ?? (() => []);
  const egress = openEgress(parts, { tokens, connections, deny, audit });
  const server = createHttpServer({ gateway, mcp, egress, connections, log, headersMs: parts.headersMs ?? HEADERS_MS });
  const removeSocket = await listenAt(server, parts.socketPath);
  return {
    socketPath: parts.socketPath,
    tokens: {
      ...tokens,
      async end(environmentId) {
        await tokens.end(environmentId);
        gateway.endCalls(environmentId);
        mcp.endCalls(environmentId);
        egress.endConnections(environmentId);
        await ledger.settled(environmentId);
      },
    },
    egress: createEgressControl({ store, clock, tokens, proxy: egress, deny }),
    forgetFailure: failures.forget,
    lastFailure: failures.last,
    budgetRefused: failures.budgetRefused,
    ask: askAfter(ledger, parts, own),
    settled: ledger.settled,
    async close() {
      removeSocket();
      await endOf(server);
      upstream.close();
    },
  };
};

const endOf = (server: ReturnType<typeof createServer>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** How calls are paid. */
const paying = (
  { providers, prices = builtinPrices(), payment = () => Promise.resolve(null) }: BrokerParts,
  { isOwn }: OwnQuestions,
) => ({
  providers,
  prices,
  payment,
  isOwnQuestion: isOwn,
});

type EgressOwn = Pick<Parameters<typeof createEgressProxy>[0], 'tokens' | 'connections' | 'deny' | 'audit'>;

const openEgress = (parts: BrokerParts, own: EgressOwn): ReturnType<typeof createEgressProxy> =>
  createEgressProxy({ ...own, clock: parts.clock, resolve: parts.resolve ?? lookupAll, onRefused: tellRefusals(parts) });

const builtinPrices = (): (() => PriceTable) => {
  const table = createPriceTable();
  return () => table;
};

/** Which model answered last is known when its calls are recorded. */
const askAfter =
  (ledger: CallLedger, { socketPath, store }: BrokerParts, { sign }: OwnQuestions): Broker['ask'] =>
  async (question) => {
    await ledger.settled(question.environmentId);
    return askModel({ socketPath, db: store.read, sign }, question);
  };

type HttpParts = {
  readonly gateway: ReturnType<typeof createModelGateway>;
  readonly mcp: McpGateway;
  readonly egress: ReturnType<typeof createEgressProxy>;
  readonly connections: Connections;
  readonly log: Log;
  readonly headersMs: number;
};

/** How often connections are looked at for their time. */
const LOOK_MS = 2_000;

const createHttpServer = ({ gateway, mcp, egress, connections, log, headersMs }: HttpParts) => {
  const guarded = (work: Promise<void>, giveUp: () => void): void => {
    work.catch((thrown: unknown) => {
      log.error('broker.request.failed', errorFields(thrown));
      giveUp();
    });
  };
  const tunnels = new Set<Duplex>();
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: headersMs,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: Math.min(LOOK_MS, headersMs),
    },
    (request, response) => {
      response.once('close', connections.began(request.socket));
      response.on('error', () => response.destroy());
      const url = request.url ?? '';
      const work = url.startsWith('/models/')
        ? gateway.handle(request, response)
        : url.startsWith('/mcp/')
          ? mcp.handle(request, response)
          : url.startsWith('/')
            ? nothingHere(request, response)
            : egress.forward(request, response);
      guarded(work, () => fail(response));
    },
  );
  server.maxConnections = BROKER_CONNECTIONS;
  server.on('connection', connections.opened);
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnels.add(client);
    connections.began(request.socket);
    client.once('close', () => tunnels.delete(client));
    guarded(egress.connect(request, client, head), () => client.destroy());
  });
  server.on('upgrade', (_request: IncomingMessage, client: Duplex) => client.end(closingAnswer(501, 'Not Implemented')));
  server.on('clientError', (thrown: Error & { code?: string }, client: Duplex) => {
    if (!client.writable) return void client.destroy();
    const status = thrown.code === 'HPE_HEADER_OVERFLOW' ? 431 : thrown.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const text = status === 408 ? 'Orrery broker: the request did not come in time.\n' : '';
    client.end(closingAnswer(status, STATUS_CODES[status] ?? '', text), () => client.destroy());
  });
  // Tunnels are no longer the server's own connections.
  const closeOwn = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeOwn();
    for (const tunnel of tunnels) tunnel.destroy();
  };
  return server;
};

const nothingHere = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  response.writeHead(404, { 'content-type': 'text/plain', ...(request.complete ? {} : { connection: 'close' }) });
  response.end(
    'Orrery broker: nothing is here. Model calls go to /models/<provider>/…, MCP servers are at /mcp/<name>, web traffic through the egress proxy (CONNECT, or a whole URL).\n',
  );
};

const fail = (response: ServerResponse): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(500, { 'content-type': 'text/plain', connection: 'close' });
  response.end('Orrery broker: something failed inside the node.\n');
};

/** Refusals and egress are written beside the work, never in its way. */
const auditInto = ({ store, clock, log }: BrokerParts): ((record: AuditRecord) => void) => {
  return (record) => {
    store
      .transaction((tx) => appendAudit(tx.db, record, clock.nowMs()))
      .catch((thrown: unknown) =>
        log.error('broker.audit.unwritten', { ...errorFields(thrown), actor: record.actor, action: record.action }),
      );
  };
};

/** Lets the same refusal of a model call through once in a while, so that a program in a loop does not fill the log. */
const onceInAWhile = (audit: (record: AuditRecord) => void, clock: Pick<Clock, 'nowMs'>): ((record: AuditRecord) => void) => {
  const told = createRemembered<number>();
  return (record) => {
    if (record.action === 'model.call' || record.action === 'mcp.call' || record.actor === 'unknown') {
      const key = JSON.stringify([record.actor, record.action, record.subject, record.detail?.['reason']]);
      const before = told.get(key);
      if (before !== undefined && clock.nowMs() - before < REFUSAL_AUDIT_MS) return;
      told.set(key, clock.nowMs());
    }
    audit(record);
  };
};
