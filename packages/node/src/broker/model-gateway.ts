// The model gateway: a run token in, the real key out, every byte of the answer passed as it comes, its usage counted from
// a copy. It adds no retries, and neither prompts nor answers are ever logged.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AuditRecord } from '../audit/index.ts';
import type { GatewayFailure } from '../harness/harness.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { createAnswerReader, type AnswerFacts } from './answer-reader.ts';
import type { CallLedger } from './call-ledger.ts';
import { endpointOf, errorWireOf, type Endpoint } from './endpoints.ts';
import type { FailureMemory } from './failure-memory.ts';
import { forwardedAnswerHeaders, forwardedRequestHeaders, runTokenOf } from './headers.ts';
import { readLimitWindows, retryAfterMs } from './limit-headers.ts';
import { MODEL_CALLS_PER_ENVIRONMENT, MODEL_REQUEST_BYTES } from './limits.ts';
import type { LimitReport, TokenIdentity } from './model.ts';
import { isModelAllowed, readModelRequest, type ModelRequest } from './model-request.ts';
import type { PriceTable } from './prices.ts';
import type { Provider, Providers } from './providers.ts';
import { readBody } from './request-body.ts';
import type { RunTokens } from './run-tokens.ts';
import { isUpstreamFault, type Upstream } from './upstream.ts';
import { refusalAnswer, type RefusalKind } from './wire-errors.ts';

export type GatewayParts = {
  readonly tokens: Pick<RunTokens, 'find'>;
  readonly providers: () => Providers;
  readonly prices: () => PriceTable;
  readonly ledger: CallLedger;
  readonly failures: FailureMemory;
  readonly upstream: Upstream;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  readonly audit: (record: AuditRecord) => void;
  readonly onLimits: (report: LimitReport) => void;
};

/** Calls under way, by environment, so that they can be counted and ended. */
export type ModelGateway = {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every call of an environment. */
  endCalls(environmentId: string): void;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly provider: string; readonly path: string; readonly query: string };

const TARGET = /^\/models\/([^/?#]*)([^?#]*)(\?[^#]*)?$/;

/** Makes the handler of `/models/<provider>/…`. */
export const createModelGateway = (parts: GatewayParts): ModelGateway => {
  const running = new Map<string, Set<AbortController>>();

  const authenticated = async (exchange: Exchange): Promise<TokenIdentity | null> => {
    const token = runTokenOf(exchange.request.headers);
    const found = token === null ? null : await parts.tokens.find(token, 'run');
    if (found?.state === 'live') return found.identity;
    const reason = token === null ? 'no token' : found?.state === 'ended' ? 'ended token' : 'unknown token';
    const actor = found?.state === 'ended' ? `task:${found.identity.taskId}` : 'unknown';
    parts.audit({ actor, action: 'model.call', subject: exchange.provider.slice(0, 64), outcome: 'refused', detail: { reason } });
    refuse(exchange, 'token', found?.state === 'ended' ? 'The run token has ended with its environment.' : 'No valid run token was given.');
    return null;
  };

  const handle = async (exchange: Exchange): Promise<void> => {
    const identity = await authenticated(exchange);
    if (identity === null) return;
    const calls = running.get(identity.environmentId) ?? new Set();
    if (calls.size >= MODEL_CALLS_PER_ENVIRONMENT) {
      return refuse(exchange, 'busy', `This environment has ${MODEL_CALLS_PER_ENVIRONMENT} model calls under way; more wait until one is over.`);
    }
    const abort = new AbortController();
    running.set(identity.environmentId, calls.add(abort));
    exchange.response.once('close', () => {
      if (!exchange.response.writableFinished) abort.abort();
    });
    try {
      await createCall(parts, { exchange, identity, abort }).run();
    } finally {
      calls.delete(abort);
      if (calls.size === 0) running.delete(identity.environmentId);
      // A call that was ended has no answer: the program sees a cut, not silence.
      if (abort.signal.aborted) exchange.response.destroy();
    }
  };

  return {
    async handle(request, response) {
      const [, provider = '', path = '', query = ''] = TARGET.exec(request.url ?? '') ?? [];
      await handle({ request, response, provider, path, query });
    },
    endCalls(environmentId) {
      for (const call of running.get(environmentId) ?? []) call.abort();
    },
  };
};

/** Says no in the form of the wire. The connection is closed when the request was not read to its end. */
const refuse = (exchange: Pick<Exchange, 'request' | 'response' | 'provider' | 'path'>, kind: RefusalKind, message: string): void => {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, body } = refusalAnswer(errorWireOf(exchange.path, exchange.provider), kind, `Orrery: ${message}`);
  const rest = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': 'application/json', ...(kind === 'busy' ? { 'retry-after': '2' } : {}), ...rest });
  response.end(body);
};

type CallParts = { readonly exchange: Exchange; readonly identity: TokenIdentity; readonly abort: AbortController };
type Ready = { readonly provider: Provider; readonly key: string | null; readonly endpoint: Endpoint; readonly request: ModelRequest };

/** One authenticated request, from its first check to its record. */
const createCall = (parts: GatewayParts, { exchange, identity, abort }: CallParts) => {
  const { environmentId, grants } = identity;

  const deny = (kind: RefusalKind, message: string, detail: string): null => {
    parts.audit({ actor: `task:${identity.taskId}`, action: 'model.call', subject: exchange.provider.slice(0, 64), outcome: 'refused', detail: { reason: detail } });
    refuse(exchange, kind, message);
    return null;
  };

  const prepare = async (): Promise<Ready | null> => {
    const provider = parts.providers().find(grants.upstream ?? exchange.provider);
    if (provider === null) return deny('path', `There is no provider of that name. Known: ${parts.providers().ids().join(', ')}.`, 'unknown provider');
    const endpoint = endpointOf(exchange.request.method ?? '', exchange.path);
    if (endpoint === null) return deny('path', 'Only model calls pass the model gateway.', 'not a model call');
    const read = await readBody(exchange.request, MODEL_REQUEST_BYTES);
    if (read.kind === 'gone') return null;
    if (read.kind === 'too-large') return deny('too_large', `A model request may have ${MODEL_REQUEST_BYTES} bytes.`, 'too large');
    const request = endpoint.call === null ? { model: '', body: read.bytes } : readModelRequest(endpoint, read.bytes);
    if (request === null) return deny('bad_request', 'A model call needs a JSON object that names a model.', 'no model');
    if (endpoint.call !== null && !isModelAllowed(grants.models, { provider: provider.id, model: request.model })) {
      return deny('model', `The model ${request.model} is not allowed for this task. Allowed: ${grants.models?.join(', ') ?? ''}.`, 'model not allowed');
    }
    const key = await provider.key();
    if (key === null && provider.keyStyle !== 'none') return deny('no_key', `There is no key for ${provider.id}. Set one: orrery secret set ${provider.id}`, 'no key');
    return { provider, key, endpoint, request };
  };

  const send = async (ready: Ready): Promise<IncomingMessage | null> => {
    const { provider, key, request } = ready;
    try {
      return await parts.upstream.send({
        provider,
        key,
        method: exchange.request.method ?? 'GET',
        path: exchange.path + cleanQuery(exchange.query),
        headers: forwardedRequestHeaders(exchange.request.headers),
        body: request.body,
        signal: abort.signal,
      });
    } catch (thrown) {
      if (!isUpstreamFault(thrown)) throw thrown;
      if (thrown.kind !== 'gone') failWithoutAnswer(ready.provider.id, thrown.kind);
      return null;
    }
  };

  const failWithoutAnswer = (provider: string, kind: 'unreachable' | 'quiet'): void => {
    const message = kind === 'quiet' ? `${provider} did not answer in time.` : `${provider} cannot be reached.`;
    parts.failures.set(environmentId, { failure: kind === 'quiet' ? 'timeout' : 'network', message, resetsAt: null });
    refuse(exchange, kind, message);
  };

  const plain = async (ready: Ready): Promise<void> => {
    const answer = await send(ready);
    if (answer !== null) await passAnswer(answer, exchange.response, () => undefined);
  };

  const counted = async (ready: Ready): Promise<void> => {
    const startedAtMs = parts.clock.nowMs();
    const { id: provider } = ready.provider;
    const price = parts.prices().find({ provider, model: ready.request.model, atMs: startedAtMs });
    const place = await parts.ledger.reserve({ identity, price, bodyBytes: ready.request.body.length });
    if (place === null) return refuseForBudget();
    try {
      const done = await exchangeCall(ready);
      const { model } = ready.request;
      if (done !== null) parts.ledger.record({ identity, provider, model, status: done.status, tokens: done.facts?.tokens ?? null, price, startedAtMs, endedAtMs: parts.clock.nowMs() });
    } finally {
      place.release();
    }
  };

  const refuseForBudget = (): void => {
    const message = `The budget of ${grants.budgetUsd} USD of this task is used up (budget_exhausted).`;
    parts.failures.set(environmentId, { failure: 'budget', message, resetsAt: null });
    parts.failures.noteBudget(identity.taskId);
    deny('budget', message, 'budget exhausted');
  };

  /** null: the program went away before there was an answer. */
  const exchangeCall = async (ready: Ready): Promise<{ readonly status: number; readonly facts: AnswerFacts | null } | null> => {
    const answer = await send(ready);
    if (answer === null) return abort.signal.aborted ? null : { status: 0, facts: null };
    const status = answer.statusCode ?? 502;
    const windows = readLimitWindows(answer.headers);
    const retryMs = retryAfterMs(answer.headers, parts.clock.nowMs());
    if (windows.length > 0 || retryMs !== null) {
      parts.onLimits({ provider: ready.provider.id, environmentId, atMs: parts.clock.nowMs(), retryAfterMs: retryMs, windows });
    }
    const reader = createAnswerReader({
      wire: ready.endpoint.call ?? 'chat',
      status,
      contentType: String(answer.headers['content-type'] ?? ''),
      encoded: !['', 'identity'].includes(String(answer.headers['content-encoding'] ?? '')),
    });
    const passed = await passAnswer(answer, exchange.response, (bytes) => reader.push(bytes));
    const facts = reader.end();
    remember({ facts, status, passed, exhausted: windows.find((window) => window.exhausted)?.resetsAt });
    return { status, facts };
  };

  /** The newest call says how the environment stands with its provider; a program that went away says nothing. */
  const remember = (end: AnswerEnd): void => {
    if (end.passed === 'gone') return;
    parts.failures.set(environmentId, gatewayFailure(end));
  };

  return {
    async run(): Promise<void> {
      const ready = await prepare();
      if (ready === null) return;
      await (ready.endpoint.call === null ? plain(ready) : counted(ready));
    },
  };
};

type AnswerEnd = { readonly facts: AnswerFacts; readonly status: number; readonly passed: Passed; readonly exhausted: string | null | undefined };

/** null: it went well, or the provider refused for a reason only the program can name. */
const gatewayFailure = ({ facts, status, passed, exhausted }: AnswerEnd): GatewayFailure | null => {
  const message = facts.failure?.message.slice(0, 500) ?? '';
  if (status === 429 && exhausted !== undefined) return { failure: 'usage_limit', message, resetsAt: exhausted };
  if (passed === 'quiet') return { failure: 'timeout', message: 'The provider fell silent in the middle of its answer.', resetsAt: null };
  const cut = { failure: 'network', message: 'The answer of the provider was cut.', resetsAt: null } as const;
  if (facts.failure === null) return passed === 'whole' && facts.whole ? null : cut;
  const { failure, resetsAt } = facts.failure;
  if (failure === 'protocol' && passed === 'cut') return cut;
  return failure === null ? null : { failure, message, resetsAt };
};

/** How an answer went through: to its end, cut or fallen silent on the provider's side, or not wanted any more. */
type Passed = 'whole' | 'cut' | 'quiet' | 'gone';

/** Passes an answer byte for byte, no faster than it is taken. Never rejects. */
const passAnswer = async (answer: IncomingMessage, response: ServerResponse, copy: (bytes: Buffer) => void): Promise<Passed> => {
  // Whoever ends first ends the other: only the first one counts.
  let ended: Exclude<Passed, 'whole'> | null = null;
  answer.once('error', (fault) => (ended ??= isUpstreamFault(fault) && fault.kind === 'quiet' ? 'quiet' : 'cut'));
  response.once('close', () => (ended ??= 'gone'));
  response.writeHead(answer.statusCode ?? 502, forwardedAnswerHeaders(answer.headers));
  response.flushHeaders();
  const tap = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      copy(bytes);
      done(null, bytes);
    },
  });
  return pipeline(answer, tap, response).then(
    () => 'whole',
    () => ended ?? 'cut',
  );
};

/** Google takes a key in the query too: the program's is not for the provider. */
const cleanQuery = (query: string): string => {
  const kept = query.replace(/^\?/, '').split('&').filter((pair) => pair !== '' && !/^key(=|$)/i.test(pair));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
};

