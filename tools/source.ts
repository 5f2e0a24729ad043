import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';
import type { Comment, Node, Program } from 'oxc-parser';

/** One import of a source file, static, dynamic, re-exported or inside a type. */
export type Import = { specifier: string; line: number };

/** A parsed source file: what every check of the tree looks at. */
export type Source = {
  /** Path from the root of the repository, with forward slashes. */
  path: string;
  text: string;
  lines: number;
  program: Program;
  comments: Comment[];
  imports: Import[];
  lineOf: (offset: number) => number;
};

/** One broken rule at one place. */
export type Finding = { rule: string; path: string; line: number; message: string };

const SKIPPED_FOLDERS = new Set(['node_modules', '.git', '.tools', 'dist', 'coverage', '.orrery-local']);
const SKIPPED_PATHS = new Set(['native/build', 'native/prebuilt']);

/** Every file below `root` that belongs to the repository, sorted, as paths from the root; no build output, no dependencies. */
export function listFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) || SKIPPED_PATHS.has(path) ? [] : listFiles(root, path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

/** True for the TypeScript and JavaScript sources that people write: no fixtures, nothing generated. */
export function isSource(path: string): boolean {
  return /\.(tsx?|mts|mjs|js)$/.test(path) && !/\.d\.ts$|\.generated\.ts$|(^|\/)(fixtures|generated)\//.test(path);
}

/** True for code that only tests run, shared contract suites included: it may do what the product may not. */
export function isTestCode(path: string): boolean {
  return (
    path.endsWith('.test.ts') ||
    /\/(contract\.ts|conformance\/.*)$/.test(path) ||
    /^(tools|e2e|bench|native\/test|packages\/testkit|packages\/[^/]+\/test)\//.test(path) ||
    path.endsWith('.config.ts')
  );
}

/** Calls `visit` on the node and everything below it, parents first, with the chain of parents (nearest last). */
export function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void, parents: readonly Node[] = []): void {
  visit(node, parents);
  const chain = [...parents, node];
  const fields = node as unknown as Record<string, unknown>;
  for (const key of visitorKeys[node.type] ?? []) {
    const value = fields[key];
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, chain);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Parses a file of the tree. Throws when it does not parse: a check that skips what it cannot read checks nothing. */
export function readSource(root: string, path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const parsed = parseSync(path, text);
  if (parsed.errors.length > 0) throw new Error(`${path} does not parse: ${parsed.errors[0]?.message}`);
  const starts = lineStarts(text);
  const lineOf = (offset: number): number => starts.findLastIndex((start) => start <= offset) + 1;
  const lines = text.endsWith('\n') ? starts.length - 1 : starts.length;
  return {
    path,
    text,
    lines,
    program: parsed.program,
    comments: parsed.comments,
    imports: importsOf(parsed.program, lineOf),
    lineOf,
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function importsOf(program: Program, lineOf: (offset: number) => number): Import[] {
  const found: Import[] = [];
  walk(program, (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) found.push({ specifier, line: lineOf(node.start) });
  });
  return found;
}

function specifierOf(node: Node): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'TSImportType':
      return node.source.value;
    case 'ExportNamedDeclaration':
      return node.source?.value;
    case 'ImportExpression':
      return node.source.type === 'Literal' && typeof node.source.value === 'string' ? node.source.value : undefined;
    case 'CallExpression': {
      const [first] = node.arguments;
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'require') return undefined;
      return first?.type === 'Literal' && typeof first.value === 'string' ? first.value : undefined;
    }
    default:
      return undefined;
  }
}

/** Reads every source below `root`; throws when there is none, because then the check itself is broken. */
export function readSources(root: string): Source[] {
  const sources = listFiles(root)
    .filter(isSource)
    .map((path) => readSource(root, path));
  if (sources.length === 0) throw new Error(`No source file was found below ${root}: nothing was checked.`);
  return sources;
}

/** Prints findings, one a line as `path:line rule: message`, and the count of files looked at. Returns the exit code. */
export function report(check: string, findings: readonly Finding[], files: number): number {
  for (const { path, line, rule, message } of findings) process.stdout.write(`${path}:${line} ${rule}: ${message}\n`);
  process.stdout.write(`${check}: ${files} files, ${findings.length === 0 ? 'no finding' : `${findings.length} findings`}\n`);
  return findings.length === 0 ? 0 : 1;
}
