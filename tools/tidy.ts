// The habits of the code that a machine can see. `node tools/tidy.ts` checks them; `--shrink` lowers the ratchet to
// what the tree has now (never raises it); `--accept` writes the ratchet anew, which needs a reason in the commit.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Node } from 'oxc-parser';
import { isSource, isTestCode, listFiles, readSource, report, walk } from './source.ts';
import type { Finding, Source } from './source.ts';

/** Lines of a file and of a function: above `soft` is counted by the ratchet, above `hard` is refused. */
export const LIMITS = { file: { soft: 300, hard: 500 }, function: { soft: 40, hard: 70 }, parameters: 3 };

/** Soft excesses that are known, by `path` (lines of the file) or `path#function` (its lines). They may only shrink. */
export type Ratchet = Record<string, number>;

type Excess = { key: string; lines: number; finding: Finding };

// A value may end in Base: a task has a base commit. A type or class may not.
const FORBIDDEN_NAME = /(Manager|Helpers?|Utils?|Data|Info)$|^[A-Z]\w*Base$/;
const FORBIDDEN_FILE = /(^|-)(manager|helpers?|utils?|base|data|info)\.(ts|mts|mjs|js)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
/** Classes of the platform that exist to be extended. */
const EXTENDABLE = new Set(['Error', 'TypeError', 'EventTarget', 'Readable', 'Writable', 'Duplex', 'Transform']);
const TEST_BLOCKS = new Set(['describe', 'it', 'test']);

function finding(source: Source, at: Node | number, message: { rule: string; text: string }): Finding {
  return {
    rule: message.rule,
    path: source.path,
    line: typeof at === 'number' ? at : source.lineOf(at.start),
    message: message.text,
  };
}

function isFunction(node: Node): node is Node & { params: readonly Node[]; body: Node | null } {
  return node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
}

/** The name of what is called, through `.each(…)` and `.skipIf(…)`: `describe.skipIf(x)('…')` is `describe`. */
function calleeName(node: Node): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return calleeName(node.object);
  return node.type === 'CallExpression' ? calleeName(node.callee) : '';
}

/** A name a person finds the function by: its own, its variable's or property's, else the call it is given to. */
function functionName(node: Node, parents: readonly Node[]): string {
  if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') if (node.id) return node.id.name;
  const parent = parents.at(-1);
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name;
  if ((parent?.type === 'MethodDefinition' || parent?.type === 'Property') && parent.key.type === 'Identifier')
    return parent.key.name;
  if (parent?.type !== 'CallExpression') return 'anonymous';
  const [title] = parent.arguments;
  const titled = title?.type === 'Literal' && typeof title.value === 'string' ? ` ${title.value}` : '';
  return `${calleeName(parent.callee)}${titled}`;
}

/**
 * The lines of each function that are its own: what a nested function holds counts there, but for its first line.
 * So every line counts once, and an object made of closures is measured as a class would be, method by method.
 */
function ownLines(source: Source): Map<Node, { lines: number; parents: readonly Node[] }> {
  const own = new Map<Node, { lines: number; parents: readonly Node[] }>();
  walk(source.program, (node, parents) => {
    if (!isFunction(node) || !node.body) return;
    const lines = source.lineOf(node.end) - source.lineOf(node.start) + 1;
    own.set(node, { lines, parents });
    const outer = parents.findLast((parent) => own.has(parent));
    const counted = outer && own.get(outer);
    if (counted) counted.lines -= lines - 1;
  });
  return own;
}

function checkFunctions(source: Source): { findings: Finding[]; excess: Excess[] } {
  const findings: Finding[] = [];
  const excess: Excess[] = [];
  for (const [node, { lines, parents }] of ownLines(source)) {
    const name = functionName(node, parents);
    findings.push(...checkParameters(source, node, { name, parents }));
    const parent = parents.at(-1);
    // The block of a suite holds tables and tests; the tests are measured one by one.
    if (parent?.type === 'CallExpression' && calleeName(parent.callee) === 'describe') continue;
    const text = `${name} has ${lines} lines of its own (${LIMITS.function.soft}, at most ${LIMITS.function.hard}).`;
    const found = finding(source, node, { rule: 'function-length', text });
    if (lines > LIMITS.function.hard) findings.push(found);
    else if (lines > LIMITS.function.soft) excess.push({ key: `${source.path}#${name}`, lines, finding: found });
  }
  return { findings, excess };
}

/** The parameters of a test's body come from its table: `it.each`. */
function checkParameters(source: Source, node: Node, { name, parents }: { name: string; parents: readonly Node[] }): Finding[] {
  const parent = parents.at(-1);
  if (!isFunction(node) || (parent?.type === 'CallExpression' && TEST_BLOCKS.has(calleeName(parent.callee)))) return [];
  const count = node.params.filter((parameter) => !(parameter.type === 'Identifier' && parameter.name === 'this')).length;
  if (count <= LIMITS.parameters) return [];
  return [finding(source, node, { rule: 'parameters', text: `${name} takes ${count}: three, then an options object.` })];
}

function checkFile(source: Source): { findings: Finding[]; excess: Excess[] } {
  const findings: Finding[] = [];
  const name = basename(source.path);
  if (!KEBAB.test(name)) findings.push(finding(source, 1, { rule: 'file-name', text: `${name} is not kebab-case.` }));
  if (FORBIDDEN_FILE.test(name))
    findings.push(finding(source, 1, { rule: 'file-name', text: `${name} says nothing: name the thing it exports.` }));
  const found = finding(source, 1, {
    rule: 'file-length',
    text: `${source.lines} lines (${LIMITS.file.soft}, at most ${LIMITS.file.hard}).`,
  });
  if (source.lines > LIMITS.file.hard) findings.push(found);
  const soft = source.lines > LIMITS.file.soft && source.lines <= LIMITS.file.hard;
  return { findings, excess: soft ? [{ key: source.path, lines: source.lines, finding: found }] : [] };
}

/** `any` needs a waiver with a reason, `// any: …`, on its line or the line above. */
function checkAny(source: Source, node: Node): Finding[] {
  if (node.type !== 'TSAnyKeyword') return [];
  const line = source.lineOf(node.start);
  const waived = source.comments.some(
    (comment) => /^\s*any: \S/.test(comment.value) && [line, line - 1].includes(source.lineOf(comment.start)),
  );
  return waived ? [] : [finding(source, line, { rule: 'any', text: 'any without a waiver (`// any: reason`).' })];
}

function checkExport(source: Source, node: Node): Finding[] {
  if (node.type === 'ExportAllDeclaration')
    return [finding(source, node, { rule: 'export-star', text: 'export the names one by one.' })];
  if (node.type !== 'ExportDefaultDeclaration' || source.path.endsWith('.config.ts')) return [];
  return [finding(source, node, { rule: 'default-export', text: 'export it by its name.' })];
}

function checkClass(source: Source, node: Node): Finding[] {
  if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return [];
  const { superClass } = node;
  if (!superClass || (superClass.type === 'Identifier' && EXTENDABLE.has(superClass.name))) return [];
  return [finding(source, node, { rule: 'extends', text: 'classes are not chained: pass what it needs as an argument.' })];
}

/** Names declared at the top level, with their node. */
function topNames(statement: Node): { name: string; node: Node }[] {
  const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (!node) return [];
  if (node.type === 'VariableDeclaration')
    return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [{ name: id.name, node: id }] : []));
  const named =
    node.type === 'FunctionDeclaration' ||
    node.type === 'ClassDeclaration' ||
    node.type === 'TSInterfaceDeclaration' ||
    node.type === 'TSTypeAliasDeclaration';
  return named && node.id ? [{ name: node.id.name, node: node.id }] : [];
}

function checkTopLevel(source: Source, statement: Node): Finding[] {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  const state = declaration?.type === 'VariableDeclaration' && declaration.kind !== 'const' && !isTestCode(source.path);
  const found = state
    ? [finding(source, statement, { rule: 'module-state', text: 'no state in a module: pass it as an argument.' })]
    : [];
  const names = topNames(statement).filter(({ name }) => FORBIDDEN_NAME.test(name));
  return [
    ...found,
    ...names.map(({ name, node }) =>
      finding(source, node, { rule: 'name', text: `${name}: never Manager, Helper, Util, Base, data, info.` }),
    ),
  ];
}

/** Every finding of one source and its soft excesses. */
export function checkSource(source: Source): { findings: Finding[]; excess: Excess[] } {
  const file = checkFile(source);
  const functions = checkFunctions(source);
  const findings = [
    ...file.findings,
    ...functions.findings,
    ...source.program.body.flatMap((statement) => checkTopLevel(source, statement)),
  ];
  walk(source.program, (node) =>
    findings.push(...checkAny(source, node), ...checkExport(source, node), ...checkClass(source, node)),
  );
  return { findings, excess: [...file.excess, ...functions.excess] };
}

/** Folders of the machine that something was written on: never in what is committed. Written so that this file does not hold them. */
const MACHINE_PATH = new RegExp(`(?<![\\w.~$}*-])/(${['work', 'farm'].join('|')})/`);
const TEXT_FILE = /\.(ts|mts|mjs|js|json|md|c|h|sh|svg|html|css|sql|ya?ml|toml|txt|jsonl)$|(^|\/)[^.]+$|^\.[a-z]/;

function checkMachinePaths(root: string, path: string): Finding[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  return lines.flatMap((text, index) =>
    MACHINE_PATH.test(text) ? [{ rule: 'machine-path', path, line: index + 1, message: `${text.trim().slice(0, 100)}` }] : [],
  );
}

/** Soft excesses the ratchet does not know or that grew, as findings. */
export function compareRatchet(excess: readonly Excess[], ratchet: Ratchet): Finding[] {
  return excess.filter(({ key, lines }) => lines > (ratchet[key] ?? 0)).map((found) => found.finding);
}

/** Checks the tree below `root` against the habits and the ratchet. Throws when there is no source. */
export function checkTidy(root: string, ratchet: Ratchet): { findings: Finding[]; excess: Ratchet; files: number } {
  const paths = listFiles(root);
  const sources = paths.filter(isSource).map((path) => readSource(root, path));
  if (sources.length === 0) throw new Error(`No source file was found below ${root}: nothing was checked.`);
  const each = sources.map(checkSource);
  const excess = each.flatMap((one) => one.excess);
  const text = paths.filter((path) => TEXT_FILE.test(path)).flatMap((path) => checkMachinePaths(root, path));
  const findings = [...each.flatMap((one) => one.findings), ...text, ...compareRatchet(excess, ratchet)];
  return { findings, excess: longest(excess), files: sources.length };
}

/** One number a key; of several functions of one name the longest counts. */
function longest(excess: readonly Excess[]): Ratchet {
  return Object.fromEntries(excess.toSorted((left, right) => left.lines - right.lines).map(({ key, lines }) => [key, lines]));
}

function main(root: string, flag: string | undefined): number {
  const file = join(root, 'tools', 'tidy-ratchet.json');
  const ratchet: Ratchet = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const { findings, excess, files } = checkTidy(root, flag === '--accept' ? {} : ratchet);
  const lower = Object.entries(ratchet).filter(([key, lines]) => (excess[key] ?? 0) < lines);
  if (flag === '--accept') return writeRatchet(file, excess);
  if (flag === '--shrink')
    writeRatchet(file, Object.fromEntries(Object.entries(excess).filter(([key, lines]) => lines <= (ratchet[key] ?? 0))));
  else if (lower.length > 0)
    process.stdout.write(`tidy: ${lower.length} of the ratchet's entries got better: node tools/tidy.ts --shrink\n`);
  return report('tidy', findings, files);
}

function writeRatchet(file: string, ratchet: Ratchet): number {
  const sorted = Object.fromEntries(Object.entries(ratchet).sort(([left], [right]) => (left < right ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(sorted, undefined, 2)}\n`);
  return 0;
}

if (import.meta.main) process.exitCode = main(dirname(import.meta.dirname), process.argv[2]);
