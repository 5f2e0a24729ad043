import { closest } from '@orrery/protocol/errors';
import type { z } from 'zod';

/** One thing that is wrong with a value from outside. Says types and names, never the value: it may be a secret. */
export type SchemaIssue = {
  /** Keys and indices from the top, for example `['limits', 'wallMs']`. */
  readonly path: readonly (string | number)[];
  /** What is wrong, as the end of a sentence about the path. */
  readonly problem: string;
  /** For a key that is not known: the key, and the known one it resembles. */
  readonly unknownKey: { readonly key: string; readonly guess: string | null } | null;
};

/** `limits.wallMs`, `command[0]`; the top is `(top)`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '') ||
  '(top)';

/** What a schema found wrong, in order, with a guess for each key it does not know. */
export const schemaIssues = (schema: z.ZodType, error: z.ZodError): SchemaIssue[] =>
  error.issues.flatMap((issue): SchemaIssue[] => {
    const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
    if (issue.code !== 'unrecognized_keys') return [{ path, problem: lowerFirst(issue.message), unknownKey: null }];
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => {
      const guess = closest(key, known);
      return {
        path: [...path, key],
        problem: guess === null ? 'no such key' : `no such key; did you mean "${guess}"?`,
        unknownKey: { key, guess },
      };
    });
  });

/** The issue as a sentence: the path, what is wrong, a full stop. */
export const issueText = ({ path, problem }: SchemaIssue): string =>
  `${pathText(path)}: ${problem}${problem.endsWith('?') ? '' : '.'}`;

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/** The keys an object schema has at a path; none where the schema is no object there. */
export const knownKeys = (schema: z.ZodType, path: readonly (string | number)[]): string[] => {
  let at: Definition | null = definitionOf(schema);
  for (const key of path) at = at === null ? null : childOf(at, key);
  return at?.shape === undefined ? [] : Object.keys(at.shape);
};

/** The parts of a schema's definition that lead to other schemas. */
type Definition = {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
};

// Optional, default, nullable and piped schemas are looked through to the one inside.
const definitionOf = (schema: z.ZodType): Definition => {
  const definition = schema.def as unknown as Definition;
  const inner = definition.innerType ?? definition.in;
  return inner === undefined ? definition : definitionOf(inner);
};

const childOf = (definition: Definition, key: string | number): Definition | null => {
  const child = typeof key === 'number' ? definition.element : (definition.shape?.[key] ?? definition.valueType);
  return child === undefined ? null : definitionOf(child);
};
