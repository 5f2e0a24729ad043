import { OrreryError } from '@orrery/protocol/errors';
import type { AnswerOf, BodyOf, OperationName, OrreryEvent, ParamsOf, QueryOf } from '@orrery/protocol';
import { answerInvalid, failureOfAnswer, failureOfTransport } from './failure.ts';
import { follow, type FollowOptions, type Pace } from './follow.ts';
import { clientLimits } from './limits.ts';
import { routes, streamRoutes, urlOf } from './routes.ts';
import { TransportFailure, type Transport, type TransportAnswer } from './transport.ts';

type Field<Key extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Key]?: undefined }
  : Record<string, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** What one call takes. `idempotencyKey`: the request id; the same key with the same intent is done once. */
export type CallRequest<Name extends OperationName> = Field<'params', ParamsOf<Name>> &
  Field<'query', QueryOf<Name>> &
  Field<'body', BodyOf<Name>> & { readonly idempotencyKey?: string; readonly signal?: AbortSignal; readonly timeoutMs?: number };

type CallArguments<Name extends OperationName> =
  object extends CallRequest<Name> ? [request?: CallRequest<Name>] : [request: CallRequest<Name>];

/** A typed client of one node. Every failure is an `OrreryError`. */
export type Client = {
  /** Calls one operation of the API. */
  call<Name extends OperationName>(name: Name, ...given: CallArguments<Name>): Promise<AnswerOf<Name>>;
  /** Events of the node after a `seq`, for ever: connections come and go, each event comes once. */
  events(options?: FollowOptions): AsyncGenerator<OrreryEvent, void, undefined>;
  /** Events of one task after a `sequence`, likewise. */
  taskEvents(id: string, options?: FollowOptions): AsyncGenerator<OrreryEvent, void, undefined>;
  /** Events of one session, likewise. */
  sessionEvents(id: string, options?: FollowOptions): AsyncGenerator<OrreryEvent, void, undefined>;
  /** Releases kept connections. */
  close(): void;
};

/** The token, or where to read it: asked again once when the node refuses it, since tokens may be replaced. */
export type TokenSource = string | null | (() => string | null | Promise<string | null>);

export type ClientOptions = {
  readonly url: string;
  readonly token: TokenSource;
  readonly transport: Transport;
  readonly pace?: Partial<Pace>;
  /** Ends every call of this client. */
  readonly stop?: AbortSignal;
};

type Sending = {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
};

const tokenOf = async (source: TokenSource): Promise<string | null> => (typeof source === 'function' ? source() : source);

/** Makes a client that speaks over the given transport. */
export const clientOver = ({ url: origin, token, transport, pace = {}, stop }: ClientOptions): Client => {
  const send = async (sending: Sending, accept: string): Promise<TransportAnswer> => {
    const secret = await tokenOf(token);
    const headers: Record<string, string> = { accept };
    if (secret !== null) headers['authorization'] = `Bearer ${secret}`;
    const file = sending.body instanceof Uint8Array ? new Uint8Array(sending.body) : null;
    if (sending.body !== undefined) headers['content-type'] = file === null ? 'application/json' : 'application/octet-stream';
    if (sending.key !== undefined) headers['idempotency-key'] = sending.key;
    const body = file ?? (sending.body === undefined ? null : JSON.stringify(sending.body));
    return transport.send({ method: sending.method, url: sending.url, headers, body, signal: sending.signal });
  };
  const open = (url: string, signal: AbortSignal): Promise<TransportAnswer> =>
    send({ method: 'GET', url, body: undefined, key: undefined, signal }, 'text/event-stream');
  const stream = (path: string, options: FollowOptions, id?: string): AsyncGenerator<OrreryEvent, void, undefined> =>
    follow({
      ...options,
      open: (after, signal) =>
        open(
          urlOf(origin, path, { params: { id }, query: { after, ...(options.onLive === undefined ? {} : { live: 1 }) } }),
          signal,
        ),
      cursorOf: id === undefined ? seqOf : sequenceOf,
      contiguous: id !== undefined,
      pace,
    });
  return {
    call: (name, ...[request]) => callOnce({ name, request: request ?? {}, origin, send, stop }) as Promise<never>,
    events: (options = {}) => stream(streamRoutes.node, options),
    taskEvents: (id, options = {}) => stream(streamRoutes.task, options, id),
    sessionEvents: (id, options = {}) => stream(streamRoutes.session, options, id),
    close: () => transport.close(),
  };
};

const seqOf = (event: OrreryEvent): number | null => event.seq;
const sequenceOf = (event: OrreryEvent): number | null => event.sequence;

type LooseRequest = {
  readonly params?: object | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};
type Call = {
  readonly name: OperationName;
  readonly request: LooseRequest;
  readonly origin: string;
  readonly send: (sending: Sending, accept: string) => Promise<TransportAnswer>;
  readonly stop: AbortSignal | undefined;
};

const callOnce = async ({ name, request, origin, send, stop }: Call): Promise<unknown> => {
  const { method, path } = routes[name];
  const timeoutMs = request.timeoutMs ?? clientLimits.callMs;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(tookTooLong(timeoutMs)), timeoutMs);
  const signal = AbortSignal.any([timeout.signal, request.signal, stop].filter((one) => one !== undefined));
  const write = method !== 'get';
  const sending: Sending = {
    method: method.toUpperCase(),
    url: urlOf(origin, path, { params: request.params ?? {}, query: request.query ?? {} }),
    // A change without a body still says what it is: an empty object.
    body: request.body ?? (method === 'post' || method === 'patch' ? {} : undefined),
    key: request.idempotencyKey,
    signal,
  };
  try {
    const first = await send(sending, 'application/json');
    // The token may have been replaced since it was read: asked once more, for reads only.
    const answer = first.status === 401 && !write ? (await drain(first), await send(sending, 'application/json')) : first;
    return await readAnswer(answer);
  } catch (thrown) {
    // A change that was not answered in time may have been made: nobody knows.
    const late = write && timeout.signal.aborted;
    throw failureOfTransport(
      late ? new TransportFailure('out of time', { sent: true, cause: thrown }) : thrown,
      write,
      request.idempotencyKey !== undefined,
    );
  } finally {
    clearTimeout(timer);
  }
};

const tookTooLong = (timeoutMs: number): OrreryError =>
  new OrreryError('deadline', `The node did not answer within ${timeoutMs / 1000} s.`, {
    rule: 'A call has a deadline; what it began may go on.',
    fix: 'See what the node does: orrery status',
  });

const drain = async (answer: TransportAnswer): Promise<void> => {
  await readText(answer);
};

/** Reads an answer of the API: its JSON, or its error thrown. */
const readAnswer = async (answer: TransportAnswer): Promise<unknown> => {
  const text = await readText(answer);
  const isJson = /^application\/(problem\+)?json\b/.test(answer.headers['content-type'] ?? '');
  const body = isJson ? parse(text) : null;
  if (answer.status < 200 || answer.status >= 300) throw failureOfAnswer(answer.status, body);
  if (!isJson || typeof body !== 'object' || body === null) throw answerInvalid('it is not the JSON that was asked for');
  return body;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw answerInvalid('it is not JSON');
  }
};

/** Reads a body up to the limit. */
export const readText = async (answer: TransportAnswer): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength;
    if (bytes > clientLimits.answerBytes) throw answerInvalid(`it has more than ${clientLimits.answerBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};
