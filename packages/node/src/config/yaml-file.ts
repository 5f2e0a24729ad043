import { OrreryError } from '@orrery/protocol/errors';
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import type { z } from 'zod';
import { CONFIG_FILE_BYTES } from '../kernel/limits.ts';
import { issueText, pathText, schemaIssues, type SchemaIssue } from '../kernel/schema-issues.ts';

/** A text that a person wrote, read by its schema. */
export type ParsedFile<Value> = {
  readonly value: Value;
  /** What stands in the file itself, without defaults. */
  readonly raw: unknown;
  /** `<label>:<line>` of a key, for `explain`; null when the file does not have it. */
  lineOf(path: readonly string[]): string | null;
};

type Asked<Schema> = {
  readonly text: string;
  readonly schema: Schema;
  /** What messages call it: a path. */ readonly label: string;
};

/**
 * Reads YAML (JSON is YAML too) by a strict schema. Rejects with `unknown_key` or `config_invalid`; the message begins
 * with `<label>:<line>:<column>` and names the key, the details list every finding. Values are never shown.
 */
export const parseYamlFile = <Schema extends z.ZodType>({ text, schema, label }: Asked<Schema>): ParsedFile<z.output<Schema>> => {
  if (Buffer.byteLength(text) > CONFIG_FILE_BYTES) {
    throw new OrreryError('config_invalid', `${label} is too large.`, {
      rule: `A configuration file has at most ${CONFIG_FILE_BYTES} bytes.`,
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const broken = document.errors[0] ?? null;
  if (broken !== null) throw syntaxError({ label, offset: broken.pos[0], lines, code: broken.code });
  const odd = oddKey(document);
  if (odd !== null) throw syntaxError({ label, offset: odd, lines, code: 'ODD_KEY' });
  const raw = plainValue(document, label);
  const parsed = schema.safeParse(raw);
  if (!parsed.success) throw schemaError(schemaIssues(schema, parsed.error), { label, document, lines });
  return {
    value: parsed.data,
    raw,
    lineOf: (path) => {
      const offset = offsetOf(document, path);
      return offset === null ? null : `${label}:${lines.linePos(offset).line}`;
    },
  };
};

/** Where a key is no word of its own: an alias, which may be the same key a second time, or a list. */
const oddKey = (document: Document.Parsed): number | null => {
  let offset: number | null = null;
  visit(document, {
    Pair: (_, { key }) => {
      if (key === null || isScalar(key)) return undefined;
      offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
      return visit.BREAK;
    },
  });
  return offset;
};

// An empty file is an empty configuration.
const plainValue = (document: Document.Parsed, label: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: 50 }) ?? {};
  } catch {
    throw new OrreryError('config_invalid', `${label} refers to its own parts too often.`, {
      rule: 'At most 50 aliases are followed.',
    });
  }
};

type Place = { readonly label: string; readonly document: Document.Parsed; readonly lines: LineCounter };

const PROBLEMS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the same key stands here a second time',
  ODD_KEY: 'a key is written out as a word, never as an alias or a list',
};

const syntaxError = ({
  label,
  offset,
  lines,
  code,
}: {
  label: string;
  offset: number;
  lines: LineCounter;
  code: string;
}): OrreryError => {
  const { line, col } = lines.linePos(offset);
  const problem = PROBLEMS[code] ?? `this is not YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
  return new OrreryError('config_invalid', `${label}:${line}:${col}: ${problem}.`, {
    fix: 'Mend that line; the last good configuration stays in force.',
  });
};

const schemaError = (issues: readonly SchemaIssue[], place: Place): OrreryError => {
  const found = issues.map((issue) => ({ ...issue, at: placeText(issue.path, place) }));
  const first = found.find(({ unknownKey }) => unknownKey !== null) ?? found[0];
  const guess = first?.unknownKey?.guess ?? null;
  const message = first === undefined ? `${place.label} is not what is expected.` : `${first.at}: ${issueText(first)}`;
  return new OrreryError(first?.unknownKey == null ? 'config_invalid' : 'unknown_key', message, {
    rule: 'Only keys that are documented have a meaning; others are refused.',
    fix: guess === null ? 'orrery config schema' : `Write "${guess}" instead of "${first?.unknownKey?.key}".`,
    details: { issues: found.slice(0, 20).map(({ path, problem, at }) => ({ at, path: pathText(path), problem })) },
  });
};

const placeText = (path: readonly (string | number)[], { label, document, lines }: Place): string => {
  // What is missing has no place of its own: its nearest parent has.
  for (let length = path.length; length > 0; length--) {
    const offset = offsetOf(document, path.slice(0, length));
    if (offset === null) continue;
    const { line, col } = lines.linePos(offset);
    return `${label}:${line}:${col}`;
  }
  return label;
};

/** Where a key (or the item of a list) begins. */
const offsetOf = (document: Document.Parsed, path: readonly (string | number)[]): number | null => {
  const key = path.at(-1);
  const parent: unknown = path.length <= 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return pair !== undefined && isScalar(pair.key) ? (pair.key.range?.[0] ?? null) : null;
  }
  const node = document.getIn(path, true) as { range?: readonly number[] } | undefined;
  return node?.range?.[0] ?? null;
};
