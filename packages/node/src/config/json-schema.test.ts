import { describe, expect, it } from 'vitest';
import { nodeJsonSchema, policyJsonSchema, projectJsonSchema } from './json-schema.ts';

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
  required?: string[];
  description?: string;
};

/** Every object of a schema that lists its keys. */
const objectsOf = (schema: Schema, path = '(top)'): [string, Schema][] =>
  schema.properties === undefined
    ? []
    : [[path, schema], ...Object.entries(schema.properties).flatMap(([key, child]) => objectsOf(child, `${path}.${key}`))];

describe('the published schemas', () => {
  it('refuse unknown keys, require none, and describe each key', () => {
    for (const schema of [nodeJsonSchema(), projectJsonSchema()] as Schema[]) {
      const objects = objectsOf(schema);
      expect(objects.length).toBeGreaterThan(2);
      for (const [path, object] of objects)
        expect([path, object.additionalProperties, object.required ?? []]).toEqual([path, false, []]);
    }
    const { limits, queue } = (nodeJsonSchema() as Schema).properties!;
    for (const key of Object.values({ ...limits!.properties, ...queue!.properties }))
      expect(key.description).toBeTypeOf('string');
  });

  it('of a policy refuses unknown keys in each of its parts', () => {
    const { rules } = policyJsonSchema()['properties'] as { rules: { items: Schema } };
    for (const [path, object] of objectsOf(rules.items)) expect([path, object.additionalProperties]).toEqual([path, false]);
    expect(rules.items.required).toEqual(['name', 'action', 'verdict']);
  });

  it('are JSON Schema 2020-12', () => {
    expect(nodeJsonSchema()['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  });
});
