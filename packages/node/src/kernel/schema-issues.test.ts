import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pathText, schemaIssues } from './schema-issues.ts';

const schema = z.strictObject({
  limits: z.strictObject({ wallMs: z.int().optional() }).optional(),
  providers: z.record(z.string(), z.strictObject({ baseUrl: z.string() })).default({}),
  list: z
    .array(z.strictObject({ name: z.string() }))
    .nullable()
    .default(null),
});

const issuesOf = (value: unknown): unknown => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : schemaIssues(schema, parsed.error).map(({ path, problem }) => `${pathText(path)}: ${problem}`);
};

describe('what a schema finds wrong', () => {
  it('names the path and guesses the key, through optional, record and array schemas', () => {
    expect(
      issuesOf({
        limits: { walMs: 1 },
        providers: { x: { baseUrl: 'u', baseURl: 'u' } },
        list: [{ name: 'n', nmae: 1 }],
        zzzzzzzz: 1,
      }),
    ).toEqual([
      'limits.walMs: no such key; did you mean "wallMs"?',
      'providers.x.baseURl: no such key; did you mean "baseUrl"?',
      'list[0].nmae: no such key; did you mean "name"?',
      'zzzzzzzz: no such key',
    ]);
  });

  it('says types and never the value', () => {
    const text = JSON.stringify(issuesOf({ limits: { wallMs: 'hunter2' } }));
    expect(text).toContain('limits.wallMs: invalid input: expected number, received string');
    expect(text).not.toContain('hunter2');
  });

  it('says the top when the whole is wrong', () => {
    expect(issuesOf(3)).toEqual(['(top): invalid input: expected object, received number']);
  });
});
