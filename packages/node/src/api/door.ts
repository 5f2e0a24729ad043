import type { HttpBindings } from '@hono/node-server';
import {
  bytes,
  operations,
  requestId,
  streamPaths,
  type Caller,
  type Operation,
  type OperationHandlers,
  type OperationName,
  type Scope,
} from '@orrery/protocol';
import { apiVersion, version } from '@orrery/protocol/version';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { HTTP_BODY_BYTES } from '../kernel/limits.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Admit } from './admit.ts';
import { authorizationOf, forBrowser } from './browser.ts';
import { errorAnswer, jsonAnswer } from './envelope.ts';
import { checkOrigin, type AllowedHosts } from './guard.ts';
import { openApiDocument, takesRequestId } from './openapi.ts';
import type { Pages } from './pages.ts';
import { parseOutside } from './parse.ts';
import { checkContentType, checkFileType, readJson } from './read-body.ts';
import type { StreamRequest, Streams } from './streams.ts';

/** What the API is made of. */
export type ApiParts = {
  /** What the slices give; an operation without a handler answers `unsupported` and is left out of `capabilities`. */
  readonly handlers: Partial<OperationHandlers>;
  readonly admit: Admit;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly log: Log;
  /** Names of this node beside literal addresses and `localhost`. */
  readonly hosts?: AllowedHosts;
  /** Checks each answer against its schema; for tests, since answers of our own are trusted. */
  readonly checkAnswers?: boolean;
  readonly bodyLimitBytes?: number;
  /** Name of the cookie of browsers that were let in. */
  readonly cookie?: string;
  /** The web client; absent: none is there. */
  readonly pages?: Pages;
};

type Env = { Bindings: HttpBindings };
type ApiContext = Context<Env>;

/** What each request is checked by. */
type Door = ApiParts;

/** The whole HTTP API: the operations of the table, three event streams and the OpenAPI document. */
export const createApi = (parts: ApiParts): Hono<Env> => {
  const app = new Hono<Env>();
  const door: Door = { ...parts, handlers: { ...ownHandlers(parts.handlers), ...parts.handlers } };
  let document: unknown = null;

  app.use(async (context, next) => {
    checkOrigin({ host: context.req.header('host'), origin: context.req.header('origin') }, parts.hosts ?? []);
    await next();
  });
  app.get('/api/openapi.json', () => jsonAnswer((document ??= openApiDocument()), 200));
  for (const [name, operation] of Object.entries(operations)) {
    app.on(operation.method.toUpperCase(), `/api/v1${operation.path}`, (context) =>
      answer(context, { door, name: name as OperationName, operation }),
    );
  }
  app.get(`/api/v1${streamPaths.node}`, (context) => stream(context, { door, open: (request) => parts.streams.node(request) }));
  app.get(`/api/v1${streamPaths.task}`, (context) => {
    const id = context.req.param('id');
    return stream(context, { door, open: (request) => parts.streams.task(request, id) });
  });
  app.get(`/api/v1${streamPaths.session}`, (context) => {
    const id = context.req.param('id');
    return stream(context, { door, open: (request) => parts.streams.session(request, id) });
  });
  app.notFound((context) => pageAnswer(context, parts.pages) ?? errorAnswer(noRoute(context)));
  app.onError((thrown, context) => {
    if (toOrreryError(thrown).code === 'internal')
      parts.log.error('api.failed', { method: context.req.method, ...errorFields(thrown) });
    return errorAnswer(thrown);
  });
  return app;
};

/** Lets a reader in and hands it the raw response: frames are written once for all readers, past the answer of the framework. */
const stream = async (
  context: ApiContext,
  { door, open }: { door: Door; open: (request: StreamRequest) => Promise<void> },
): Promise<Response> => {
  await admit(context, { door, scope: 'viewer' });
  const response = context.env?.outgoing;
  if (response === undefined || context.req.method !== 'GET') throw noRoute(context);
  const { after, types, live } = parseOutside(streamQuery, { value: queryOf(context), where: 'query' });
  const last = context.req.header('last-event-id');
  // A browser that reconnects repeats the first address and adds what it heard last: that is the newer cursor.
  const cursor = last === undefined || last === '' ? after : parseOutside(streamCursor, { value: last, where: 'header' });
  await open({ response, after: cursor ?? null, types: types === undefined ? null : new Set(types.split(',')), live });
  return RESPONSE_ALREADY_SENT;
};

const streamCursor = z.coerce.number().int().min(0);
const streamQuery = z.strictObject({
  after: streamCursor.optional(),
  types: z.string().max(2_000).optional(),
  /** Text of a session while it is written, too. */
  live: z
    .enum(['0', '1'])
    .default('0')
    .transform((value) => value === '1'),
});

const noRoute = (context: ApiContext): OrreryError =>
  new OrreryError('not_found', `There is no ${context.req.method} at this path.`, {
    rule: 'The API has the paths of /api/openapi.json.',
    fix: 'Look at GET /api/openapi.json',
  });

/** The operations that only the door can answer. */
const ownHandlers = (handlers: Partial<OperationHandlers>): Pick<OperationHandlers, 'health' | 'capabilities'> => ({
  health: async () => ({ ok: true }),
  capabilities: async () => ({
    apiVersion,
    version,
    operations: [...new Set(['health', 'capabilities', ...Object.keys(handlers)])].toSorted(),
  }),
});

/** Lets a caller in with at least that scope. */
const admit = (context: ApiContext, { door, scope }: { door: Door; scope: Scope | null }): Promise<Caller> =>
  door.admit(
    {
      authorization: authorizationOf(
        {
          method: context.req.method,
          authorization: context.req.header('authorization'),
          cookie: context.req.header('cookie'),
          origin: context.req.header('origin'),
          site: context.req.header('sec-fetch-site'),
        },
        door.cookie ?? NO_COOKIE,
      ),
      address: context.env?.incoming?.socket.remoteAddress,
    },
    scope,
  );

const NO_COOKIE = 'orrery_';

/** A page or file of the web client, for who asks for one. */
const pageAnswer = (context: ApiContext, pages: Pages | undefined): Response | null => {
  const { method, path } = context.req;
  if (pages === undefined || (method !== 'GET' && method !== 'HEAD') || path.startsWith('/api/')) return null;
  return pages.answer(path, { encodings: context.req.header('accept-encoding') ?? '', tag: context.req.header('if-none-match') });
};

type Asked = { readonly door: Door; readonly name: OperationName; readonly operation: Operation };

/** One call: who, what, then the handler. */
const answer = async (context: ApiContext, { door, name, operation }: Asked): Promise<Response> => {
  const caller = await admit(context, { door, scope: operation.scope });
  const handler = door.handlers[name] as ((call: unknown) => Promise<unknown>) | undefined;
  if (handler === undefined) {
    throw new OrreryError('unsupported', `This node does not have "${name}".`, {
      rule: 'GET /api/v1/capabilities lists what it has.',
    });
  }
  const params = parseOutside(operation.params, { value: context.req.param(), where: 'path' });
  const query = parseOutside(operation.query.strict(), { value: queryOf(context), where: 'query' });
  const body = operation.body === null ? undefined : await bodyOf(context, { door, operation, schema: operation.body });
  const handled = await handler({ params, query, body, caller });
  const secure = context.req.header('origin')?.startsWith('https:') === true;
  const { value, headers } = forBrowser(name, handled, { name: door.cookie ?? NO_COOKIE, secure });
  return jsonAnswer(door.checkAnswers === true ? checkedAnswer(operation, value) : value, operation.status, headers);
};

/** The query as an object; a name that comes twice is refused rather than one of them chosen. */
const queryOf = (context: ApiContext): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const [name, values] of Object.entries(context.req.queries())) {
    if (values.length > 1) throw new OrreryError('invalid_input', `The query has "${name}" more than once.`);
    found[name] = values[0] ?? '';
  }
  return found;
};

/** The body with the request id of the header, when there is one. */
const bodyOf = async (
  context: ApiContext,
  { door, operation, schema }: { door: Door; operation: Operation; schema: NonNullable<Operation['body']> },
): Promise<unknown> => {
  const type = context.req.header('content-type') ?? null;
  if (schema === bytes) return fileOf(context, type);
  checkContentType(type);
  const value = await readJson(context.req.raw, door.bodyLimitBytes ?? HTTP_BODY_BYTES);
  return parseOutside(schema, {
    value: withRequestId(context.req.header('idempotency-key'), { value, operation }),
    where: 'body',
  });
};

/** A file is handed over as it comes: whoever takes it bounds it. */
const fileOf = (context: ApiContext, type: string | null): AsyncIterable<Uint8Array> => {
  checkFileType(type);
  return context.req.raw.body ?? noBytes();
};

async function* noBytes(): AsyncGenerator<Uint8Array> {
  // A request without a body is an empty file.
}

const withRequestId = (header: string | undefined, { value, operation }: { value: unknown; operation: Operation }): unknown => {
  if (header === undefined) return value;
  const key = parseOutside(requestId, { value: header, where: 'header' });
  if (!takesRequestId(operation)) {
    throw new OrreryError('unsupported', 'This operation takes no Idempotency-Key.', {
      rule: 'Only operations with requestId in their body can be sent twice as one.',
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('requestId' in value && value.requestId !== key) {
    throw new OrreryError('request_conflict', 'The header Idempotency-Key and requestId in the body differ.', {
      rule: 'They are the same thing: send one of them.',
    });
  }
  return { ...value, requestId: key };
};

const checkedAnswer = (operation: Operation, value: unknown): unknown => {
  const parsed = operation.answer.safeParse(value);
  if (parsed.success) return value;
  throw new OrreryError('internal', `An answer is not what its schema says: ${parsed.error.message}`);
};
