import { operations } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi.ts';

type Parameter = { name: string; in: string; required: boolean; schema: object };
type Described = {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content: Record<string, { schema: object }> }>;
  security?: unknown;
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Every `$ref` of a value. */
const refsOf = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => (key === '$ref' ? [String(child)] : refsOf(child)));
};

describe('the OpenAPI document', () => {
  it('is 3.1 and has every operation of the table once, and the three streams', () => {
    expect(document.openapi).toBe('3.1.0');
    const ids = described.map(({ operation }) => operation.operationId).toSorted();
    expect(ids).toEqual([...Object.keys(operations), 'eventStream', 'taskEventStream', 'sessionEventStream'].toSorted());
  });

  it('declares each variable of each path, and no other', () => {
    for (const { path, operation } of described) {
      const variables = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name, required }) => [name, required])).toEqual(variables.map((name) => [name, true]));
    }
  });

  it('has a body exactly where the table has one, an answer with its status, and the error envelope', () => {
    for (const { operation } of described) {
      const row = operations[operation.operationId as keyof typeof operations];
      if (row === undefined) continue;
      expect(operation.requestBody !== undefined).toBe(row.body !== null);
      expect(Object.keys(operation.responses).toSorted()).toEqual([String(row.status), 'default']);
      expect(operation.responses[String(row.status)]?.content['application/json']?.schema).toBeTypeOf('object');
      expect(operation.security).toEqual(row.scope === null ? [] : undefined);
    }
  });

  it('resolves every reference inside itself', () => {
    const refs = refsOf(document);
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of new Set(refs)) {
      const target = ref
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      expect(target, ref).toBeTypeOf('object');
    }
  });

  it('shows nullable fields as 3.1 does', () => {
    const task = document.paths['/api/v1/tasks/{id}']?.['get']?.responses['200']?.content['application/json']?.schema as {
      properties: Record<string, unknown>;
      additionalProperties: boolean;
    };
    expect(task.properties['waitingFor']).toEqual({ type: ['string', 'null'] });
  });
});
