// The egress proxy: CONNECT and plain HTTP to hosts of an environment's list, nothing else. It resolves names itself, after
// the decision, and dials the very address it looked at.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AuditRecord } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { dial, passRequest, tunnel, type Bytes } from './egress-pass.ts';
import { refuseRequest, refuseTunnel, type Denial, type Target } from './egress-refusal.ts';
import { createEgressRules, type EgressRules } from './egress-rules.ts';
import { egressTokenOf } from './headers.ts';
import { parseAuthority, parseHost } from './host-name.ts';
import { EGRESS_PER_ENVIRONMENT } from './limits.ts';
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
type Asked = {
  readonly request: IncomingMessage;
  readonly target: Target | null;
  readonly action: EgressAction;
  readonly refuse: (denial: Denial) => void;
};
type Admitted = Pass & { readonly target: Target; readonly server: Socket };
type Pass = { readonly identity: TokenIdentity; readonly rules: EgressRules };

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

  /** Addresses that may be dialled for the target, in the resolver's order. */
  const addressesFor = async (target: Target, rules: EgressRules): Promise<readonly string[] | Denial> => {
    const found = target.host.kind === 'address' ? [target.host.text] : await parts.resolve(target.host.text).catch(() => []);
    if (found.length === 0) return { status: 502, reason: 'its name cannot be resolved' };
    const allowed = found.filter((address) => rules.mayDial(address, target.port));
    return allowed.length > 0 ? allowed : { status: 403, reason: 'it leads to a private address that no rule names' };
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

  /** Decides, resolves and dials; a refusal is noted and told by `refuse`. */
  const admit = async (asked: Asked): Promise<Admitted | null> => {
    const { request, target, action, refuse } = asked;
    const pass = await decide(request, target);
    const say = (denial: Denial): null => {
      const outcome = denial.status === 502 ? 'failed' : 'refused';
      const identity = 'status' in pass ? null : pass.identity;
      note({ action, pass: identity, target, outcome, reason: denial.reason, bytes: { sent: 0, received: 0 } });
      refuse(denial);
      return null;
    };
    if ('status' in pass || target === null)
      return say('status' in pass ? pass : { status: 400, reason: 'its target is no host and port' });
    const addresses = await addressesFor(target, pass.rules);
    if ('status' in addresses) return say(addresses);
    const server = await dial(addresses, target.port);
    if (server === null) return say({ status: 502, reason: 'it cannot be reached' });
    // The environment may have ended while the name was resolved and the address dialled.
    const still = await decide(request, target);
    if (!('status' in still)) return { ...pass, target, server };
    server.destroy();
    return say(still);
  };

  return {
    async connect(request, client, head) {
      client.on('error', () => client.destroy());
      const target = parseAuthority(request.url ?? '');
      const refuse = (denial: Denial) => refuseTunnel(client, denial, target);
      const admitted = await admit({ request, target, action: 'egress.connect', refuse });
      if (admitted === null) return;
      const { identity, rules, server } = admitted;
      if (client.destroyed) return void server.destroy();
      register(identity.environmentId, client);
      const bytes: Bytes = { sent: 0, received: 0 };
      const reason = await tunnel({ client, head, target: admitted.target, server, rules, bytes });
      note({ action: 'egress.connect', pass: identity, target, outcome: reason === null ? 'done' : 'refused', reason, bytes });
    },
    async forward(request, response) {
      const target = plainTarget(request.url ?? '');
      const refuse = (denial: Denial) => refuseRequest(request, response, { denial, target });
      const admitted = await admit({ request, target, action: 'egress.http', refuse });
      if (admitted === null) return;
      const { identity, server } = admitted;
      if (response.destroyed) return void server.destroy();
      register(identity.environmentId, response);
      const bytes: Bytes = { sent: 0, received: 0 };
      const reason = await passRequest({ request, response, server, bytes });
      if (reason !== null) refuse({ status: 502, reason: 'it gave no answer' });
      note({ action: 'egress.http', pass: identity, target, outcome: reason === null ? 'done' : 'failed', reason, bytes });
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
