// One model request whose token is known: checked, sent on, passed back, counted and recorded.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditRecord } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { createAnswerReader, type AnswerFacts } from './answer-reader.ts';
import type { CallLedger } from './call-ledger.ts';
import { endpointOf, errorWireOf, type Endpoint } from './endpoints.ts';
import type { GatewayFailure } from '../harness/harness.ts';
import type { FailureMemory } from './failure-memory.ts';
import { forwardedRequestHeaders } from './headers.ts';
import { readLimitWindows, retryAfterMs } from './limit-headers.ts';
import { MODEL_REQUEST_BYTES } from './limits.ts';
import type { LimitReport, TokenIdentity } from './model.ts';
import { isModelAllowed, readModelRequest, type ModelRequest } from './model-request.ts';
import { gatewayFailure, passAnswer, type AnswerEnd } from './pass-answer.ts';
import type { PriceTable } from './prices.ts';
import { findPaid, type Paid } from './paid.ts';
import type { FindPayment, Provider, Providers } from './providers.ts';
import { readBody } from './request-body.ts';
import { isUpstreamFault, type Upstream } from './upstream.ts';
import { refusalAnswer, type RefusalKind } from './wire-errors.ts';

/** What a call needs of the broker. */
export type CallServices = {
  readonly providers: () => Providers;
  readonly payment: FindPayment;
  /** Whether a request is the node's own question, which no login pays. */
  readonly isOwnQuestion: (request: IncomingMessage) => boolean;
  readonly prices: () => PriceTable;
  readonly ledger: CallLedger;
  readonly failures: FailureMemory;
  readonly upstream: Upstream;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly audit: (record: AuditRecord) => void;
  readonly onLimits: (report: LimitReport) => void;
};

/** One request of a program and its target, in parts. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly provider: string;
  readonly path: string;
  readonly query: string;
};

/** Says no in the form of the wire. The connection is closed when the request was not read to its end. */
export const refuse = (
  exchange: Pick<Exchange, 'request' | 'response' | 'provider' | 'path'>,
  kind: RefusalKind,
  message: string,
): void => {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, body } = refusalAnswer(errorWireOf(exchange.path, exchange.provider), kind, `Orrery: ${message}`);
  const rest = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': 'application/json', ...(kind === 'busy' ? { 'retry-after': '2' } : {}), ...rest });
  response.end(body);
};

type CallParts = { readonly exchange: Exchange; readonly identity: TokenIdentity; readonly abort: AbortController };
type Ready = {
  readonly provider: Provider;
  readonly paid: Paid;
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
};

/** Makes one authenticated call, from its first check to its record. */
export const createCall = (parts: CallServices, { exchange, identity, abort }: CallParts) => {
  const { environmentId, grants } = identity;

  const deny = (kind: RefusalKind, message: string, detail: string): null => {
    parts.audit({
      actor: `task:${identity.taskId}`,
      action: 'model.call',
      subject: exchange.provider.slice(0, 64),
      outcome: 'refused',
      detail: { reason: detail },
    });
    refuse(exchange, kind, message);
    return null;
  };

  const prepare = async (): Promise<Ready | null> => {
    const provider = parts.providers().find(grants.upstream ?? exchange.provider);
    if (provider === null)
      return deny('path', `There is no provider of that name. Known: ${parts.providers().ids().join(', ')}.`, 'unknown provider');
    const endpoint = endpointOf(exchange.request.method ?? '', exchange.path);
    if (endpoint === null) return deny('path', 'Only model calls pass the model gateway.', 'not a model call');
    const read = await readBody(exchange.request, MODEL_REQUEST_BYTES);
    if (read.kind === 'gone') return null;
    if (read.kind === 'too-large')
      return deny('too_large', `A model request may have ${MODEL_REQUEST_BYTES} bytes.`, 'too large');
    const request = endpoint.call === null ? { model: '', body: read.bytes } : readModelRequest(endpoint, read.bytes);
    if (request === null) return deny('bad_request', 'A model call needs a JSON object that names a model.', 'no model');
    if (endpoint.call !== null && !isModelAllowed(grants.models, { provider: provider.id, model: request.model })) {
      return deny(
        'model',
        `The model ${request.model} is not allowed for this task. Allowed: ${grants.models?.join(', ') ?? ''}.`,
        'model not allowed',
      );
    }
    const harness = parts.isOwnQuestion(exchange.request) ? null : (grants.harness ?? null);
    const paid = await findPaid(parts.payment, { provider, harness, path: exchange.path });
    return 'refused' in paid ? deny(paid.kind, paid.refused, paid.detail) : { provider, paid, endpoint, request };
  };

  const send = async (ready: Ready): Promise<IncomingMessage | null> => {
    const { provider, paid, request } = ready;
    try {
      return await parts.upstream.send({
        provider,
        key: paid.key,
        payment: paid.payment,
        method: exchange.request.method ?? 'GET',
        path: paid.path + cleanQuery(exchange.query),
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
    await parts.failures.settled(environmentId);
    const limit = parts.failures.limitOf(environmentId, ready.provider.id);
    if (limit !== null) return void deny('limit', limitText(ready.provider.id, limit), 'usage limit');
    const startedAtMs = parts.clock.nowMs();
    const { id: provider } = ready.provider;
    const price = parts.prices().find({ provider, model: ready.request.model, atMs: startedAtMs });
    const place = await parts.ledger.reserve({ identity, price, bodyBytes: ready.request.body.length });
    if (place === null) return refuseForBudget();
    try {
      const done = await exchangeCall(ready);
      const { model } = ready.request;
      if (done !== null)
        parts.ledger.record({
          identity,
          provider,
          model,
          status: done.status,
          tokens: done.facts?.tokens ?? null,
          price,
          startedAtMs,
          endedAtMs: parts.clock.nowMs(),
        });
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
    if (status === 401) ready.paid.payment?.refused();
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
    const exhausted = windows.find((window) => window.exhausted)?.resetsAt;
    const known = passAnswer(answer, exchange.response, (bytes) => reader.push(bytes)).then((passed) => {
      const facts = reader.end();
      remember(ready.provider.id, { facts, status, passed, exhausted, retryMs, nowMs: parts.clock.nowMs() });
      return { status, facts };
    });
    if (status >= 400) parts.failures.coming(environmentId, known);
    return known;
  };

  /** The newest call says how the environment stands with its provider; a program that went away says nothing. */
  const remember = (provider: string, end: AnswerEnd): void => {
    if (end.passed === 'gone') return;
    parts.failures.set(environmentId, gatewayFailure(end), provider);
  };

  return {
    async run(): Promise<void> {
      const ready = await prepare();
      if (ready === null) return;
      await (ready.endpoint.call === null ? plain(ready) : counted(ready));
    },
  };
};

/** What a program is told that asks once more before the limit is over. */
const limitText = (provider: string, { message, resetsAt }: GatewayFailure): string =>
  `The usage limit of ${provider} is reached${resetsAt === null ? '' : ` until ${resetsAt}`}. ${message}`.trimEnd();

/** Google takes a key in the query too: the program's is not for the provider. */
const cleanQuery = (query: string): string => {
  const kept = query
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '' && !/^key(=|$)/i.test(pair));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
};
