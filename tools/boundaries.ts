// Who may import whom: the tables of the architecture, and the check that keeps them. `node tools/boundaries.ts`.
import { dirname, join, normalize } from 'node:path';
import type { Node } from 'oxc-parser';
import { findCycles } from './cycles.ts';
import { isTestCode, readSources, report, walk, type Finding, type Source } from './source.ts';

/** What each package may import: our own packages, packages of others, and whether Node's built-in modules are allowed. */
export const PACKAGES: Record<string, { ours: readonly string[]; others: readonly string[]; builtins: boolean }> = {
  protocol: { ours: [], others: ['zod'], builtins: false },
  client: { ours: ['protocol'], others: [], builtins: true },
  cli: {
    ours: ['protocol', 'client'],
    others: ['@agentclientprotocol/sdk', '@modelcontextprotocol/server', 'commander', 'ink', 'react', 'string-width'],
    builtins: true,
  },
  web: {
    ours: ['protocol', 'client'],
    others:
      '@tanstack/react-query @tanstack/react-router @tanstack/react-virtual @xterm/addon-fit @xterm/xterm cmdk react react-dom'.split(
        ' ',
      ),
    builtins: false,
  },
  'scripted-model': { ours: [], others: [], builtins: true },
  node: {
    ours: ['protocol', 'scripted-model'],
    others: [
      'hono',
      '@hono/node-server',
      '@kubernetes/client-node',
      '@xterm/addon-serialize',
      '@xterm/headless',
      'ajv',
      'better-sqlite3',
      'dockerode',
      'kysely',
      'web-push',
      'ws',
      'yaml',
      'zod',
    ],
    builtins: true,
  },
  testkit: { ours: ['protocol'], others: ['vitest'], builtins: true },
};

/** The rings of packages/node/src (`commands/` are verbs of the node's own program): a file imports its own folder or a lower ring, never upward and never sideways without an arrow. */
export const RINGS: readonly (readonly string[])[] = [
  ['kernel'],
  ['config', 'store', 'keeper', 'git', 'files', 'starter', 'telemetry'],
  ['exec', 'harness', 'codehost', 'plugin'],
  [
    'agent',
    'project',
    'task',
    'queue',
    'session',
    'attached',
    'push',
    'environment',
    'interaction',
    'mission',
    'team',
    'channel',
    'intake',
    'concert',
    'review',
    'pull-request',
    'pipeline',
    'mail',
    'broker',
    'usage',
    'token',
    'program-login',
    'policy',
    'workspace',
    'audit',
  ],
  ['run'],
  ['api', 'mcp', 'a2a', 'acp', 'preview'],
  ['main.ts', 'boot.ts', 'boot', 'commands'],
];

/** Slices that others of their ring may import: they import no slice themselves. */
export const LEAF_SLICES: readonly string[] = ['environment', 'policy', 'workspace', 'audit'];

/** The arrows inside a ring, `from: [to]`, each with a reason a newcomer would accept. */
export const ARROWS: Record<string, readonly string[]> = {
  // Trees that Git is to take up are walked the way trees are walked before they are removed.
  git: ['files'],
  // A harness runs its program in an environment.
  harness: ['exec'],
  // A task and its place in the queue are one transaction.
  task: ['queue'],
};

/** The files that may start a process, by prefix. Everything else asks them: one place builds a child's environment. */
export const SPAWN_POINTS: readonly string[] = [
  'packages/node/src/kernel/spawner.ts',
  'packages/node/src/starter/',
  'packages/node/src/keeper/',
  'packages/node/src/harness/run-to-end.ts',
  'packages/cli/src/node-process.ts',
  'tools/',
];

/** Where a recursive deletion may be written: the one deletion path. */
export const DELETION_PATH = 'packages/node/src/files/';

const DELETING = new Set(['rm', 'rmSync', 'rmdir', 'rmdirSync', 'rimraf']);
const NODE_SOURCES = 'packages/node/src/';

function finding(source: Source, found: Omit<Finding, 'path'>): Finding {
  return { ...found, path: source.path };
}

/** The path from the root that a relative import names; undefined for imports by name. */
export function resolveImport(source: Source, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(source.path), specifier)) : undefined;
}

/** The package a path belongs to, as its folder under packages/. */
function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

/** `@orrery/protocol/errors` → `@orrery/protocol`; `hono/sse` → `hono`. */
function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function checkPackages(source: Source): Finding[] {
  const own = packageOf(source.path);
  const rule = own === undefined ? undefined : PACKAGES[own];
  if (own === undefined) return [];
  if (rule === undefined)
    return [
      finding(source, {
        line: 1,
        rule: 'package',
        message: `packages/${own} is not in the package table of tools/boundaries.ts.`,
      }),
    ];
  const tests = isTestCode(source.path);
  return source.imports.flatMap(({ specifier, line }) => {
    const target = resolveImport(source, specifier);
    const problem = target === undefined ? checkByName({ own, specifier, tests }) : checkByPath({ own, target, tests });
    return problem === undefined ? [] : [finding(source, { line, rule: 'package', message: problem })];
  });
}

/** Packages that the tests of every package may import: what is said is held against the schema of its protocol, and an encrypted message is read as its receiver would. */
const FOR_TESTS: ReadonlySet<string> = new Set(['@agentclientprotocol/sdk', 'http_ece']);

function checkByPath({ own, target, tests }: { own: string; target: string; tests: boolean }): string | undefined {
  if (target.startsWith(`packages/${own}/`)) return undefined;
  if (tests && target.startsWith('tools/')) return undefined;
  return `${target} is outside packages/${own}: import the package by its name.`;
}

function checkByName({ own, specifier, tests }: { own: string; specifier: string; tests: boolean }): string | undefined {
  const allowed = PACKAGES[own];
  const name = packageName(specifier);
  if (specifier.startsWith('node:'))
    return allowed?.builtins || tests ? undefined : `${own} runs in a browser too: no built-in module of Node.`;
  if (name === 'vitest') return tests ? undefined : 'vitest is for tests only.';
  if (tests && FOR_TESTS.has(name)) return undefined;
  if (!name.startsWith('@orrery/')) return allowed?.others.includes(name) ? undefined : `${own} does not import ${name}.`;
  const ours = name.slice('@orrery/'.length);
  if (ours === 'testkit') return tests ? undefined : 'testkit is imported by tests only.';
  if (own === 'cli' && ours === 'node') return 'cli starts the node as a process and never imports it.';
  if (ours === own || allowed?.ours.includes(ours) || (tests && ours === 'scripted-model')) return undefined;
  return `${own} does not import ${ours}.`;
}

/** The folder (or top-level file) of packages/node/src that a path is in, with the number of its ring. */
function placeOf(path: string): { name: string; ring: number } | undefined {
  if (!path.startsWith(NODE_SOURCES)) return undefined;
  const name = path.slice(NODE_SOURCES.length).split('/')[0] ?? '';
  return { name, ring: RINGS.findIndex((ring) => ring.includes(name)) };
}

function checkRings(source: Source): Finding[] {
  const from = placeOf(source.path);
  if (from === undefined) return [];
  if (from.ring === -1 && !isTestCode(source.path))
    return [finding(source, { line: 1, rule: 'ring', message: `${from.name} is in no ring of tools/boundaries.ts.` })];
  return source.imports.flatMap(({ specifier, line }) => {
    const target = resolveImport(source, specifier);
    const to = target === undefined ? undefined : placeOf(target);
    if (target === undefined || to === undefined || to.name === from.name) return [];
    const problem = ringProblem({ from, to, target, tests: isTestCode(source.path) });
    return problem === undefined ? [] : [finding(source, { line, rule: 'ring', message: problem })];
  });
}

type Place = { name: string; ring: number };

function ringProblem({
  from,
  to,
  target,
  tests,
}: {
  from: Place;
  to: Place;
  target: string;
  tests: boolean;
}): string | undefined {
  // A test may look down on everything but itself stays in its folder's ring, so that it moves with its source.
  if (to.ring === -1) return tests ? undefined : `${to.name} is in no ring.`;
  if (to.ring > from.ring && from.ring !== -1)
    return `${from.name} (ring ${from.ring}) imports ${to.name} (ring ${to.ring}): never upward.`;
  const sideways = to.ring === from.ring && !ARROWS[from.name]?.includes(to.name);
  const leaf = LEAF_SLICES.includes(to.name) && !LEAF_SLICES.includes(from.name);
  if (sideways && !leaf && to.ring !== RINGS.length - 1)
    return `${from.name} imports ${to.name} of its own ring without an arrow in tools/boundaries.ts.`;
  const isSlice = RINGS[3]?.includes(to.name) === true;
  if (isSlice && target !== `${NODE_SOURCES}${to.name}/index.ts` && !tests) return `${to.name} is entered by its index.ts only.`;
  return undefined;
}

/** True for options written out in full without `recursive`; a variable or a spread could hold it. */
function cannotRecurse(options: Node): boolean {
  if (options.type !== 'ObjectExpression') return false;
  return options.properties.every(
    (one) => one.type === 'Property' && !one.computed && one.key.type === 'Identifier' && one.key.name !== 'recursive',
  );
}

function checkDeletion(source: Source): Finding[] {
  if (isTestCode(source.path) || source.path.startsWith(DELETION_PATH)) return [];
  const found: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== 'CallExpression') return;
    const { callee } = node;
    const name =
      callee.type === 'Identifier'
        ? callee.name
        : callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
          ? callee.property.name
          : '';
    if (!DELETING.has(name)) return;
    const options = node.arguments[1];
    const oneFile = options === undefined ? name !== 'rimraf' : cannotRecurse(options);
    if (!oneFile) {
      const message = `${name}: trees are deleted by ${DELETION_PATH} alone (one file: no option, or none but force).`;
      found.push(finding(source, { line: source.lineOf(node.start), rule: 'deletion', message }));
    }
  });
  return found;
}

function checkSpawning(source: Source): Finding[] {
  if (isTestCode(source.path) || SPAWN_POINTS.some((prefix) => source.path.startsWith(prefix))) return [];
  return source.imports
    .filter(({ specifier }) => /^(node:)?(child_process|cluster)$/.test(specifier))
    .map(({ specifier, line }) =>
      finding(source, {
        line,
        rule: 'spawn',
        message: `${specifier}: processes are started by the spawn points of tools/boundaries.ts alone.`,
      }),
    );
}

function checkCycles(sources: readonly Source[]): Finding[] {
  const known = new Set(sources.map(({ path }) => path));
  const targets = (source: Source): string[] =>
    source.imports
      .map(({ specifier }) => resolveImport(source, specifier))
      .filter((path) => path !== undefined && known.has(path)) as string[];
  const graph = new Map(sources.map((source) => [source.path, targets(source)]));
  return findCycles(graph).map((cycle) => ({
    rule: 'cycle',
    path: cycle[0] ?? '',
    line: 1,
    message: [...cycle, cycle[0]].join(' → '),
  }));
}

/** Every broken boundary of the tree below `root`, and how many files were looked at (never 0: that throws). */
export function checkBoundaries(root: string): { findings: Finding[]; files: number } {
  const sources = readSources(root);
  const each = sources.flatMap((source) => [
    ...checkPackages(source),
    ...checkRings(source),
    ...checkDeletion(source),
    ...checkSpawning(source),
  ]);
  return { findings: [...each, ...checkCycles(sources)], files: sources.length };
}

if (import.meta.main) {
  const { findings, files } = checkBoundaries(dirname(import.meta.dirname));
  process.exitCode = report('boundaries', findings, files);
}
