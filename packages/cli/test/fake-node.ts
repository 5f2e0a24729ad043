// A small working node: it speaks the operation table and the event streams over real HTTP, refuses what the table refuses,
// and checks its own answers against it, so that a test against it is a test against the API.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations, OrreryError, toOrreryError, type EventBody, type Operation, type OperationName } from '@orrery/protocol';
import { answerOf, type Call } from './fake-answers.ts';
import { emptyState, NOW_MS, TOKEN, type FakeState } from './fake-state.ts';

/** A running fake node. */
export type FakeNode = {
  readonly url: string;
  readonly state: FakeState;
  append(taskId: string | null, body: EventBody): void;
  /** Cuts every event stream. */
  cutStreams(): void;
  close(): Promise<void>;
};

/** Starts a fake node on a free port. */
export const startFakeNode = async (change: (state: FakeState) => void = () => undefined): Promise<FakeNode> => {
  const state = emptyState();
  change(state);
  const streams = new Set<() => void>();
  const responses = new Set<ServerResponse>();
  const append = (taskId: string | null, body: EventBody): void => {
    const sequence = taskId === null ? null : state.events.filter((event) => event.taskId === taskId).length + 1;
    state.events.push({ seq: state.events.length + 1, at: new Date(NOW_MS).toISOString(), taskId, sequence, turn: null, body });
    for (const wake of streams) wake();
  };
  const server: Server = createServer((request, response) => {
    void handle({ request, response }).catch((thrown: unknown) => {
      const error = toOrreryError(thrown);
      send(response, error.kind.http, { error: error.toBody() });
    });
  });
  const handle = async ({ request, response }: { request: IncomingMessage; response: ServerResponse }): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://fake');
    if (url.pathname !== '/api/v1/health' && request.headers.authorization !== `Bearer ${TOKEN}`)
      throw new OrreryError('unauthenticated', 'The token is not known.', {
        rule: 'Every call has a token.',
        fix: 'orrery token list',
      });
    const stream = /^\/api\/v1(?:\/tasks\/([^/]+))?\/events$/.exec(url.pathname);
    if (stream !== null)
      return serveStream({
        response,
        taskId: stream[1] ?? null,
        after: Number(url.searchParams.get('after') ?? 0),
        state,
        streams,
        responses,
      });
    const call = await readCall(request, url, state);
    const answer = await answerOf(call, state, { append, url: urlOf(server) });
    if (state.hangs.includes(call.name)) return;
    if (state.cuts.includes(call.name)) return void response.destroy();
    send(response, operations[call.name].status, operations[call.name].answer.parse(answer));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: urlOf(server),
    state,
    append,
    cutStreams: () => responses.forEach((response) => response.destroy()),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

type Streaming = {
  readonly response: ServerResponse;
  readonly taskId: string | null;
  readonly after: number;
  readonly state: FakeState;
  readonly streams: Set<() => void>;
  readonly responses: Set<ServerResponse>;
};

const serveStream = ({ response, taskId, after, state, streams, responses }: Streaming): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`event: hello\ndata: ${JSON.stringify({ after, seq: state.events.length })}\n\n`);
  let cursor = after;
  const wake = (): void => {
    for (const event of state.events) {
      const own = taskId === null ? event.seq : event.taskId === taskId ? event.sequence : null;
      if (own === null || own <= cursor) continue;
      cursor = own;
      response.write(`id: ${own}\ndata: ${JSON.stringify(event)}\n\n`);
    }
  };
  streams.add(wake);
  responses.add(response);
  response.on('close', () => {
    streams.delete(wake);
    responses.delete(response);
  });
  wake();
};

/** Finds the operation and reads the call by its schemas, as strictly as the API. */
const readCall = async (request: IncomingMessage, url: URL, state: FakeState): Promise<Call> => {
  for (const [name, operation] of Object.entries(operations)) {
    const pattern = new RegExp(`^/api/v1${operation.path.replace(/:([a-z]+)/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(url.pathname);
    if (match === null || request.method?.toLowerCase() !== operation.method) continue;
    if (state.lacks.includes(name as OperationName)) throw new OrreryError('unsupported', `This node does not have "${name}".`);
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const key = request.headers['idempotency-key'];
    state.seen.push(`${request.method} ${url.pathname.slice('/api/v1'.length)}${typeof key === 'string' ? ' once' : ''}`);
    const body: Record<string, unknown> = operation.body === null ? {} : readBody(operation.body, JSON.parse(text), key);
    return {
      name: name as OperationName,
      params: { ...match.groups },
      query: operation.query.strict().parse(Object.fromEntries(url.searchParams)),
      body,
    };
  }
  throw new OrreryError('not_found', 'There is nothing at that path.');
};

/** As the API: the header is the request id of the body, and refused where the body has none. */
const readBody = (
  schema: NonNullable<Operation['body']>,
  given: object,
  key: string | string[] | undefined,
): Record<string, unknown> => {
  const parsed = schema.safeParse(typeof key === 'string' ? { ...given, requestId: key } : given);
  if (!parsed.success)
    throw new OrreryError(
      'invalid_input',
      `The body is refused: ${parsed.error.issues.map(({ message }) => message).join('; ')}`,
    );
  return parsed.data as Record<string, unknown>;
};
