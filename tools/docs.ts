// The parts of the guides that are made from the code: `node tools/docs.ts` writes them, a test says when they are old.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manualMarkdown } from '../packages/cli/src/manual.ts';
import { table } from '../packages/cli/src/commands/table.ts';
import { takesRequestId } from '../packages/node/src/api/openapi.ts';
import { nodeJsonSchema, projectJsonSchema } from '../packages/node/src/config/json-schema.ts';
import { variableOf } from '../packages/node/src/config/layers.ts';
import { restartKeys } from '../packages/node/src/config/node-schema.ts';
import { defaultRetryPrompt } from '../packages/node/src/config/project-schema.ts';
import { errorCatalogue } from '../packages/protocol/src/errors.ts';
import { operations } from '../packages/protocol/src/http.ts';

/** A JSON Schema as far as it is read here. */
type Schema = {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
};

/** One key of a configuration file. */
type Key = { readonly key: string; readonly schema: Schema };

const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(inCell).join(' | ')} |`).join('\n');

/** Outside backticks `<name>` would be taken for a tag. */
const inCell = (text: string): string =>
  (text.startsWith('`') ? text : text.replaceAll('<', '&lt;')).replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The keys of a schema, objects opened; of a map first its own key, then those of one entry. */
function keysOf(schema: Schema, path = ''): Key[] {
  const below = (properties: Readonly<Record<string, Schema>>, prefix: string): Key[] =>
    Object.entries(properties).flatMap(([name, child]) => keysOf(child, prefix === '' ? name : `${prefix}.${name}`));
  if (schema.properties !== undefined) return below(schema.properties, path);
  const entry = typeof schema.additionalProperties === 'object' ? schema.additionalProperties.properties : undefined;
  return [{ key: path, schema }, ...(entry === undefined ? [] : below(entry, `${path}.<name>`))];
}

/** A default as it would be written; one that is a whole text is told, not shown. */
const defaultOf = ({ schema }: Key): string => {
  if (schema.default === undefined) return '';
  const text = JSON.stringify(schema.default);
  return text.length > 60 ? 'a text, below' : `\`${text}\``;
};

function nodeKeys(): string {
  const schema = nodeJsonSchema() as Schema;
  const isEntry = (key: string): boolean => key.includes('<name>');
  const rows = keysOf(schema).map((key) => [
    `\`${key.key}\``,
    defaultOf(key),
    key.schema.description ?? '',
    restartKeys.includes(key.key) ? 'restart' : '',
    isEntry(key.key) ? '' : `\`${variableOf(key.key)}\``,
  ]);
  return markdownTable(['key', 'default', 'meaning', 'holds after', 'variable'], rows);
}

function projectKeys(): string {
  const ofNode = new Map(keysOf(nodeJsonSchema() as Schema).map(({ key, schema }) => [key, schema.description ?? '']));
  const rows = keysOf(projectJsonSchema() as Schema).map((key) => [
    `\`${key.key}\``,
    defaultOf(key),
    key.schema.description ?? ofNode.get(key.key) ?? '',
  ]);
  return markdownTable(['key', 'default', 'meaning'], rows);
}

const operationRows = (): string =>
  markdownTable(
    ['operation', 'method and path', 'scope', 'what it does', 'sent twice'],
    Object.entries(operations).map(([name, operation]) => [
      `\`${name}\``,
      `\`${operation.method.toUpperCase()} /api/v1${operation.path}\``,
      operation.scope ?? 'none',
      operation.summary,
      takesRequestId(operation) ? 'takes a request id' : '',
    ]),
  );

const errorRows = (): string =>
  markdownTable(
    ['code', 'HTTP', 'exit code', 'may pass by itself'],
    Object.entries(errorCatalogue).map(([code, { http, exit, retryable }]) => [
      `\`${code}\``,
      String(http),
      String(exit),
      retryable ? 'yes' : '',
    ]),
  );

const retryPrompt = (): string => `\`\`\`text\n${defaultRetryPrompt}\n\`\`\``;

const cliPage = (): string => `${manualMarkdown(table).trimEnd()}\n`;

/** Generated parts by document: the whole page, or what stands between `<!-- made: name -->` and `<!-- end -->`. */
const PARTS: Readonly<Record<string, Readonly<Record<string, () => string>> | (() => string)>> = {
  'docs/guides/cli.md': cliPage,
  'docs/guides/api.md': { operations: operationRows, errors: errorRows },
  'docs/guides/configuration.md': { node: nodeKeys, project: projectKeys, retryPrompt },
};

/** Puts the made parts into a page. Throws when a page lacks the place of one. */
export function fill(page: string, parts: Readonly<Record<string, () => string>>): string {
  return Object.entries(parts).reduce((text, [name, make]) => {
    const place = new RegExp(`(<!-- made: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`There is no place for "${name}".`);
    return text.replace(place, (_, before: string, after: string) => `${before}\n${make()}\n\n${after}`);
  }, page);
}

/** Every page with made parts: as it is and as it should be. */
export function madePages(root: string): { path: string; now: string; due: string }[] {
  return Object.entries(PARTS).map(([path, parts]) => {
    if (typeof parts === 'function') return { path, now: readOr(join(root, path)), due: parts() };
    const now = readFileSync(join(root, path), 'utf8');
    return { path, now, due: fill(now, parts) };
  });
}

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  for (const { path, now, due } of madePages(root)) {
    if (now === due) continue;
    writeFileSync(join(root, path), due);
    process.stdout.write(`written: ${path}\n`);
  }
}
