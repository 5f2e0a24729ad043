import { OrreryError } from '@orrery/protocol/errors';
import type { z } from 'zod';
import { issueText, pathText, schemaIssues } from '../kernel/schema-issues.ts';

/** Issues that an error names; the first is its message. */
const ISSUES = 20;

/**
 * Reads a value from outside by a schema, or throws `unknown_key` (with the key that was probably meant) or
 * `invalid_input`. The error names each path and what was expected there, never the value.
 */
export const parseOutside = <Schema extends z.ZodType>(
  schema: Schema,
  { value, where }: { value: unknown; where: 'body' | 'query' | 'path' | 'header' },
): z.output<Schema> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = schemaIssues(schema, parsed.error).slice(0, ISSUES);
  const first = issues.find(({ unknownKey }) => unknownKey !== null) ?? issues[0];
  const unknown = first?.unknownKey ?? null;
  const message = first === undefined ? `The ${where} is not what is expected.` : `The ${where} is wrong at ${issueText(first)}`;
  throw new OrreryError(unknown === null ? 'invalid_input' : 'unknown_key', message, {
    rule: 'Requests are as in /api/openapi.json; keys that are not known are refused.',
    fix: unknown?.guess == null ? undefined : `Write "${unknown.guess}" instead of "${unknown.key}".`,
    details: {
      where,
      issues: issues.map(({ path, problem, unknownKey }) => ({
        path: pathText(path),
        problem,
        guess: unknownKey?.guess ?? null,
      })),
    },
  });
};
