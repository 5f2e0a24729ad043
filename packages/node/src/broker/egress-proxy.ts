// The egress proxy: CONNECT and plain HTTP to hosts of an environment's list, nothing else. It resolves names itself, after
// the decision, and dials the very address it looked at.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AuditRecord } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Connections } from './connections.ts';
import { createEgressConnections, type OpenConnection } from './egress-connections.ts';
import { dial, passRequest, tunnel, type Bytes } from './egress-pass.ts';
import { refuseRequest, refuseTunnel, type Denial, type Refusal, type Target } from './egress-refusal.ts';
import { rulesOf, type EgressRules } from './egress-rules.ts';
import { createEgressTraffic, type HostTraffic } from './egress-traffic.ts';
import { egressTokenOf } from './headers.ts';
import { parseAuthority, parseHost } from '../kernel/host-name.ts';
import { EGRESS_PER_ENVIRONMENT, RESOLVE_MS } from './limits.ts';
import type { Grants, TokenIdentity } from './model.ts';
import type { RunTokens } from './run-tokens.ts';

/** Resolves a name to its addresses; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** A host that an environment was refused. */
export type Refused = { readonly taskId: string; readonly host: string; readonly port: number; readonly reason: string };

export type EgressParts = {
  readonly tokens: Pick<RunTokens, 'find'>;
  readonly connections: Pick<Connections, 'prove'>;
  /** The operator's denials, asked at each request. */
  readonly deny: () => readonly string[];
  readonly resolve: Resolve;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly audit: (record: AuditRecord) => void;
  /** Told of a host the first time that an environment is refused it. */
  readonly onRefused: (refused: Refused) => void;
};

export type EgressProxy = {
  connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void>;
  /** A request whose target is a whole URL. */
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every connection of an environment. */
  endConnections(environmentId: string): void;
  /** The rules of an environment changed: connections that they deny now are ended. Answers how many. */
  rulesChanged(environmentId: string, grants: Grants): number;
  /** The environments that have connections open. */
  connected(): readonly string[];
  openConnections(environmentId: string): number;
  /** What an environment asked for since this node started, newest first. */
  traffic(environmentId: string): readonly HostTraffic[];
};

type EgressAction = 'egress.connect' | 'egress.http';
type Asked = {
  readonly request: IncomingMessage;
  readonly target: Target | null;
  readonly action: EgressAction;
  /** What the environment's end closes. */
  readonly stream: OpenConnection['stream'] & { readonly destroyed: boolean };
  readonly refuse: (refusal: Refusal) => void;
};
type Pass = { readonly identity: TokenIdentity; readonly target: Target; readonly rules: EgressRules; readonly denial: null };
type Decision = Pass | { readonly identity: TokenIdentity | null; readonly denial: Denial };
type Admitted = Pass & {
  readonly server: Socket;
  /** Why a rule that came later ended it, or null. */
  readonly deniedSince: () => string | null;
};
type Ended = {
  readonly action: EgressAction;
  readonly identity: TokenIdentity | null;
  readonly target: Target | null;
  readonly outcome: AuditRecord['outcome'];
  readonly reason: string | null;
  readonly bytes: Bytes;
};

const PRIVATE: Denial = { status: 403, reason: 'it leads to a private address that no rule names' };

/** Makes the proxy. */
export const createEgressProxy = (parts: EgressParts): EgressProxy => {
  const open = createEgressConnections();
  const traffic = createEgressTraffic();
  let changes = 0;

  /** Who asks and whether the target is allowed; the names are not resolved before. */
  const decide = async (request: IncomingMessage, target: Target | null): Promise<Decision> => {
    const token = egressTokenOf(request.headers);
    const found = token === null ? null : await parts.tokens.find(token, 'egress');
    if (found?.state !== 'live')
      return { identity: null, denial: { status: 407, reason: 'it needs the egress token of a live environment' } };
    const { identity } = found;
    const full = parts.connections.prove(request.socket, identity.environmentId);
    if (full !== null) return { identity, denial: { status: 429, reason: full } };
    if (target === null) return { identity, denial: { status: 400, reason: 'its target is no host and port' } };
    if (open.count(identity.environmentId) >= EGRESS_PER_ENVIRONMENT)
      return { identity, denial: { status: 429, reason: `the environment has ${EGRESS_PER_ENVIRONMENT} connections open` } };
    const rules = rulesOf(identity.grants, parts.deny());
    const refusal = rules.refusal(target.host, target.port);
    return refusal === null ? { identity, target, rules, denial: null } : { identity, denial: { status: 403, reason: refusal } };
  };

  /** As `decide`, by rules that did not change meanwhile. */
  const decideNow = async (request: IncomingMessage, target: Target): Promise<Decision> => {
    for (;;) {
      const before = changes;
      const decision = await decide(request, target);
      if (before === changes) return decision;
    }
  };

  /** Addresses that may be dialled for the target, in the resolver's order. */
  const addressesFor = async (target: Target, rules: EgressRules): Promise<readonly string[] | Denial> => {
    const found = target.host.kind === 'address' ? [target.host.text] : await inTime(parts.resolve(target.host.text));
    if (found.length === 0) return { status: 502, reason: 'its name cannot be resolved' };
    const allowed = found.filter((address) => rules.mayDial(address, target.port));
    return allowed.length > 0 ? allowed : PRIVATE;
  };

  const note = ({ action, identity, target, outcome, reason, bytes: { sent, received } }: Ended): void => {
    parts.audit({
      actor: identity === null ? 'unknown' : `task:${identity.taskId}`,
      action,
      subject: target === null ? '' : `${target.host.text}:${target.port}`,
      outcome,
      detail: { reason, sent, received },
    });
    if (identity === null || target === null) return;
    const [host, port] = [target.host.text, target.port];
    const atMs = parts.clock.nowMs();
    const first = traffic.note(identity.environmentId, { host, port, reason, sent, received, atMs });
    if (first && reason !== null && outcome === 'refused') parts.onRefused({ taskId: identity.taskId, host, port, reason });
  };

  /** Resolves and dials what was allowed. */
  const reach = async ({ target, rules }: Pass): Promise<Socket | Denial> => {
    const addresses = await addressesFor(target, rules);
    if ('status' in addresses) return addresses;
    return (await dial(addresses, target.port)) ?? { status: 502, reason: 'it cannot be reached' };
  };

  /** The environment may have ended, or its rules changed, while the name was resolved and the address dialled. */
  const decideAgain = async ({ request, stream }: Asked, { target }: Pass, address: string): Promise<Decision> => {
    const still = await decideNow(request, target);
    if (still.denial !== null) return still;
    if (stream.destroyed) return { identity: still.identity, denial: { status: 502, reason: 'the program did not wait for it' } };
    return still.rules.mayDial(address, target.port) ? still : { identity: still.identity, denial: PRIVATE };
  };

  /** Decides, resolves and dials; a refusal is noted and told by `refuse`. */
  const admit = async (asked: Asked): Promise<Admitted | null> => {
    const { request, target, action, refuse, stream } = asked;
    const say = (identity: TokenIdentity | null, denial: Denial): null => {
      const outcome = denial.status === 502 ? 'failed' : 'refused';
      note({ action, identity, target, outcome, reason: denial.reason, bytes: { sent: 0, received: 0 } });
      refuse({ denial, target, taskId: identity?.taskId ?? null });
      return null;
    };
    const pass = await decide(request, target);
    if (pass.denial !== null) return say(pass.identity, pass.denial);
    const server = await reach(pass);
    if ('status' in server) return say(pass.identity, server);
    const address = server.remoteAddress ?? '';
    const still = await decideAgain(asked, pass, address);
    if (still.denial !== null) {
      server.destroy();
      return say(still.identity, still.denial);
    }
    let denied: string | null = null;
    const connection = { target: pass.target, address, stream, onDenied: (reason: string) => void (denied = reason) };
    open.add(still.identity.environmentId, connection);
    return { ...still, server, deniedSince: () => denied };
  };

  return {
    async connect(request, client, head) {
      client.on('error', () => client.destroy());
      const target = parseAuthority(request.url ?? '');
      const action = 'egress.connect';
      const refuse = (refusal: Refusal) => refuseTunnel(client, refusal);
      const admitted = await admit({ request, target, action, stream: client, refuse });
      if (admitted === null) return;
      const bytes: Bytes = { sent: 0, received: 0 };
      const greeting = await tunnel({ ...admitted, client, head, bytes });
      const reason = greeting ?? admitted.deniedSince();
      note({ action, identity: admitted.identity, target, outcome: reason === null ? 'done' : 'refused', reason, bytes });
    },
    async forward(request, response) {
      const target = plainTarget(request.url ?? '');
      const action = 'egress.http';
      const refuse = (refusal: Refusal) => refuseRequest(request, response, refusal);
      const admitted = await admit({ request, target, action, stream: response, refuse });
      if (admitted === null) return;
      const { identity, server } = admitted;
      const bytes: Bytes = { sent: 0, received: 0 };
      const failure = await passRequest({ request, response, server, bytes });
      const denied = admitted.deniedSince();
      if (failure !== null && denied === null)
        refuse({ denial: { status: 502, reason: 'it gave no answer' }, target, taskId: identity.taskId });
      const outcome = denied !== null ? 'refused' : failure === null ? 'done' : 'failed';
      note({ action, identity, target, outcome, reason: denied ?? failure, bytes });
    },
    endConnections: open.endAll,
    rulesChanged(environmentId, grants) {
      changes += 1;
      const rules = rulesOf(grants, parts.deny());
      return open.endDenied(environmentId, ({ target, address }) => {
        const refusal = rules.refusal(target.host, target.port);
        return refusal ?? (rules.mayDial(address, target.port) ? null : PRIVATE.reason);
      });
    },
    connected: open.environments,
    openConnections: open.count,
    traffic: traffic.list,
  };
};

/** The addresses, or none when the resolver takes too long or knows none. */
const inTime = (asked: Promise<readonly string[]>): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), RESOLVE_MS);
    asked.then(resolve, () => resolve([])).finally(() => clearTimeout(timer));
  });

/** Host and port of a plain HTTP request to a proxy; other schemes have no business here. */
const plainTarget = (text: string): Target | null => {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const host = parseHost(url.hostname.replace(/^\[|\]$/g, ''));
  return host === null ? null : { host, port: url.port === '' ? 80 : Number(url.port) };
};
