import { bytes, errorCatalogue, operations, streamPaths, version, type Operation } from '@orrery/protocol';
import { z } from 'zod';

/** JSON Schema of one side of the wire; what JSON cannot say is left open. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return rest;
};

const parametersOf = (schema: z.ZodObject, place: 'path' | 'query'): unknown[] => {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, of]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: of,
  }));
};

const failures = {
  default: {
    description: 'What failed, the rule behind it and the next step.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  },
};

const templateOf = (path: string): string => `/api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`;

const operationOf = (name: string, operation: Operation): Record<string, unknown> => ({
  operationId: name,
  summary: operation.summary,
  'x-orrery-scope': operation.scope,
  ...(operation.scope === null ? { security: [] } : {}),
  parameters: [
    ...parametersOf(operation.params, 'path'),
    ...parametersOf(operation.query, 'query'),
    ...(takesRequestId(operation) ? [idempotencyKey] : []),
  ],
  ...(operation.body === null ? {} : { requestBody: { required: true, content: contentOf(operation.body) } }),
  responses: {
    [operation.status]: {
      description: operation.summary,
      content: { 'application/json': { schema: schemaOf(operation.answer, 'output') } },
    },
    ...failures,
  },
});

/** JSON, or a file as it is. */
const contentOf = (body: NonNullable<Operation['body']>): Record<string, unknown> =>
  body === bytes
    ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
    : { 'application/json': { schema: schemaOf(body, 'input') } };

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 200 },
  description: 'The same as requestId in the body.',
};

/** Whether the body of an operation has a request id, so that it may be sent twice. */
export const takesRequestId = ({ body }: Operation): boolean => body instanceof z.ZodObject && 'requestId' in body.shape;

const streamSummaries: Readonly<Record<string, string>> = {
  [streamPaths.node]: 'Events of the node as they happen.',
  [streamPaths.task]: 'Events of one task as they happen.',
  [streamPaths.session]: 'Events of one session as they happen.',
};

const liveParameter = {
  name: 'live',
  in: 'query',
  required: false,
  schema: { type: 'string', enum: ['0', '1'] },
  description: 'With 1, also frames "live" without an id: text of rows while they are written, which is not stored.',
};

const streamOf = (name: string, path: string): Record<string, unknown> => ({
  operationId: name,
  summary: streamSummaries[path] ?? '',
  'x-orrery-scope': 'viewer',
  parameters: [
    ...(path.includes(':id')
      ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
      : [
          {
            name: 'types',
            in: 'query',
            required: false,
            schema: { type: 'string' },
            description: 'Kinds of events, with commas between.',
          },
        ]),
    ...(path === streamPaths.session ? [liveParameter] : []),
    { name: 'after', in: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
    { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
  ],
  responses: {
    200: {
      description: 'Server-sent events; the first frame is "hello".',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...failures,
  },
});

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'rule', 'fix', 'retryable', 'details'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorCatalogue) },
        message: { type: 'string' },
        rule: { type: ['string', 'null'] },
        fix: { type: ['string', 'null'] },
        retryable: { type: 'boolean' },
        details: { type: ['object', 'null'] },
      },
    },
  },
};

/** The OpenAPI 3.1 document of the operation table and the streams. */
export const openApiDocument = (): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {};
  const add = (path: string, method: string, value: unknown): void => {
    (paths[templateOf(path)] ??= {})[method] = value;
  };
  for (const [name, operation] of Object.entries(operations)) add(operation.path, operation.method, operationOf(name, operation));
  add(streamPaths.node, 'get', streamOf('eventStream', streamPaths.node));
  add(streamPaths.task, 'get', streamOf('taskEventStream', streamPaths.task));
  add(streamPaths.session, 'get', streamOf('sessionEventStream', streamPaths.session));
  return {
    openapi: '3.1.0',
    info: { title: 'Orrery', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: { schemas: { Error: errorSchema }, securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  };
};
