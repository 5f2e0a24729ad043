import { describe, expect, it } from 'vitest';
import { compileSchema } from './json-schema.ts';
import { SCHEMA_BYTES } from './limits.ts';

describe('a schema', () => {
  it('of the draft 2020-12 says what does not fit, where', async () => {
    const check = await compileSchema(
      {
        $defs: { name: { type: 'string', minLength: 2 } },
        type: 'object',
        required: ['name', 'pair'],
        properties: {
          name: { $ref: '#/$defs/name' },
          pair: { prefixItems: [{ type: 'integer' }, { const: 'b' }], items: false },
        },
        unevaluatedProperties: false,
      },
      'schema',
    );
    expect(check({ name: 'ab', pair: [1, 'b'] })).toEqual([]);
    expect(check({ name: 'a', pair: ['x', 'b', 3], more: 1 }).toSorted()).toEqual([
      '/name must NOT have fewer than 2 characters',
      '/pair must NOT have more than 2 items',
      '/pair/0 must be integer',
      'the value must NOT have unevaluated properties',
    ]);
    expect(check('text')).toEqual(['the value must be object']);
  });

  it.each([
    ['no schema', { type: 'something' }, 'invalid_input'],
    ['a reference to elsewhere', { $ref: 'https://example.org/schema.json' }, 'invalid_input'],
    ['a pattern that is none', { type: 'string', pattern: '(' }, 'invalid_input'],
    ['too much', { description: 'x'.repeat(SCHEMA_BYTES) }, 'input_too_large'],
  ])('that is %s is refused', async (_, schema, code) => {
    await expect(compileSchema(schema, 'output schema')).rejects.toMatchObject({
      code,
      message: expect.stringContaining('output schema') as string,
    });
  });
});
