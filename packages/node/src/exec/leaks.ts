// The leak probe: secrets are planted where a node has them, and a program inside an environment searches for them.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import type { KeeperClient, KeeperConnection, KeeperGuarantee, KeeperSpec } from '../keeper/types.ts';
import type { Backend, Environment, RunSpec } from './backend.ts';
import { formsIn, leakForms } from './leak-forms.ts';
import type { LeakForm } from './leak-forms.ts';
import { LEAK_SEARCH } from './leak-search.ts';
import { selftestEnvironment } from './selftest-place.ts';

/** Where a secret was found. Some places are closed on every backend, others only where a guarantee closes them. */
export type LeakPlace = 'environment' | 'arguments' | 'output' | 'description' | 'run state' | 'process table' | 'files';

/** One find: which planted secret, where, and in which shape. */
export type Leak = {
  readonly canary: string;
  readonly where: LeakPlace;
  /** Name of the variable, file or kind of process file; never the secret. */
  readonly at: string;
  readonly form: string;
  /** False where the backend says itself that it does not close this place. */
  readonly promised: boolean;
};

/** What was searched: nothing searched means nothing proven. */
export type LeakReport = {
  readonly leaks: readonly Leak[];
  readonly planted: readonly string[];
  readonly looked: Readonly<Record<string, number>>;
};

/** What the probe needs. */
export type LeakProbeOptions = {
  readonly backend: Backend;
  /** Holds the process whose arguments and environment are planted. */
  readonly keeper: KeeperClient;
  /** An empty directory that the caller made and removes afterwards. */
  readonly directory: string;
  /** Directories by name in which a file with a secret is planted and taken away again: data, home, another checkout. */
  readonly plantIn: Readonly<Record<string, string>>;
  /** Directories that are searched from inside, beside the places planted in and the environment's own. */
  readonly roots: readonly string[];
  /** Where the backend keeps what it writes about runs. */
  readonly stateDir: string;
};

const CLOSED_BY: Partial<Record<LeakPlace, KeeperGuarantee>> = { 'process table': 'processes', files: 'files' };
const MAX_FILES = 5_000;
const MAX_FILE_BYTES = 1024 * 1024;
/** Memory of other processes that is searched, the node's first: whether it can be read is the question. */
const MAX_MEMORY_BYTES = 128 * 1024 * 1024;
const PLANTED_FILE = '.orrery-leak-probe';
const PLANTED_VARIABLE = 'ORRERY_LEAK_PROBE';

type Canary = { readonly name: string; readonly secret: string; readonly forms: readonly LeakForm[] };

/** Characters that URLs and base64 alphabets change are in it, so that each shape differs. */
const makeCanary = (name: string): Canary => {
  const secret = `cn/${randomBytes(12).toString('hex')}+Zq~`;
  return { name, secret, forms: leakForms(secret) };
};

const victimSpec = (directory: string, secrets: { readonly argument: string; readonly variable: string }): KeeperSpec => ({
  command: 'sh',
  args: ['-c', 'sleep 600; :', 'sh', secrets.argument],
  cwd: directory,
  env: { PATH: '/usr/bin:/bin', VICTIM: secrets.variable },
  stdio: 'piped',
  confinement: null,
  limits: { wallMs: 600_000, outputBytes: 1024, spoolWindowBytes: 1024 },
  front: null,
  required: [],
  goTimeoutMs: 30_000,
  releaseTimeoutMs: 1000,
});

type Planted = { readonly canaries: readonly Canary[]; take(): Promise<void> };

const startVictim = async (
  { keeper, directory }: LeakProbeOptions,
  canaries: readonly [Canary, Canary],
): Promise<KeeperConnection> => {
  const victim = await keeper.launch(
    join(directory, 'victim'),
    victimSpec(directory, { argument: canaries[0].secret, variable: canaries[1].secret }),
  );
  await victim.go();
  return victim;
};

const plant = async (options: LeakProbeOptions): Promise<Planted> => {
  const inNode = makeCanary('environment of the node');
  const others = [makeCanary('arguments of another process'), makeCanary('environment of another process')] as const;
  const files = Object.entries(options.plantIn).map(([name, dir]) => ({
    canary: makeCanary(`file in ${name}`),
    path: join(dir, PLANTED_FILE),
  }));
  const take = async (): Promise<void> => {
    delete process.env[PLANTED_VARIABLE];
    for (const { path } of files) await unlink(path).catch(() => undefined);
    await options.keeper.end(join(options.directory, 'victim'));
    await options.keeper.remove(join(options.directory, 'victim'));
  };
  try {
    process.env[PLANTED_VARIABLE] = inNode.secret;
    for (const { canary, path } of files) await writeFile(path, `${canary.secret}\n`, { mode: 0o644, flag: 'wx' });
    (await startVictim(options, others)).close();
  } catch (thrown) {
    await take();
    throw thrown;
  }
  return { canaries: [inNode, ...others, ...files.map(({ canary }) => canary)], take };
};

const foundLine = z.object({
  where: z.enum(['environment', 'arguments', 'process table', 'files']),
  at: z.string(),
  canary: z.string(),
  form: z.string(),
});
const lookedLine = z.object({ looked: z.record(z.string(), z.number()) });

type Find = Omit<Leak, 'promised'>;

const collectText = async (chunks: AsyncIterable<{ readonly bytes: Uint8Array }>): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const { bytes } of chunks) parts.push(bytes);
  return Buffer.concat(parts).toString('utf8');
};

const searchRun = (environment: Environment): RunSpec => ({
  command: process.execPath,
  args: ['-e', LEAK_SEARCH],
  cwd: environment.workdir,
  grants: [{ path: dirname(dirname(process.execPath)), access: 'rox', scope: 'absolute', provenance: 'orrery', required: true }],
  env: {},
  envPassthrough: ['PATH', 'LANG'],
  stdio: 'stream',
  limits: { wallMs: 300_000, outputBytes: 16 * 1024 * 1024 },
  label: 'leak probe',
  runId: 'leak-probe',
});

const filesBelow = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** What the node itself wrote and said about the run, searched from outside. */
const searchOutside = async (
  canaries: readonly Canary[],
  texts: { readonly output: string; readonly description: string; readonly stateDir: string },
): Promise<Find[]> => {
  const places: { where: LeakPlace; at: string; text: string }[] = [
    { where: 'output', at: 'stderr', text: texts.output },
    { where: 'description', at: 'describe', text: texts.description },
  ];
  for (const path of await filesBelow(texts.stateDir))
    places.push({ where: 'run state', at: path, text: await readFile(path, 'latin1').catch(() => '') });
  return places.flatMap(({ where, at, text }) =>
    canaries.flatMap(({ name, forms }) => formsIn(text, forms).map((form) => ({ canary: name, where, at, form }))),
  );
};

/** What the searching program is told: through stdin, so that nothing of it is where it looks. */
const searchOrder = (options: LeakProbeOptions, environment: Environment, canaries: readonly Canary[]): Uint8Array => {
  const { workdir, home, scratchpad } = environment;
  const roots = [workdir, home, scratchpad, ...Object.values(options.plantIn), ...options.roots];
  const order = {
    canaries: canaries.map(({ name, forms }) => ({ name, forms })),
    roots: [...new Set(roots)],
    first: process.pid,
    maxFiles: MAX_FILES,
    maxBytes: MAX_FILE_BYTES,
    maxMemory: MAX_MEMORY_BYTES,
  };
  return Buffer.from(JSON.stringify(order));
};

const searchInside = async (
  options: LeakProbeOptions,
  environment: Environment,
  canaries: readonly Canary[],
): Promise<{ finds: Find[]; looked: Record<string, number> }> => {
  const run = searchRun(environment);
  const handle = await environment.start(run);
  await handle.go();
  await handle.write('canaries', searchOrder(options, environment, canaries));
  await handle.closeInput();
  const [stdout, stderr] = await Promise.all([collectText(handle.output('stdout', 0)), collectText(handle.output('stderr', 0))]);
  const end = await handle.wait();
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  const last = lookedLine.safeParse(lines.pop());
  if (end.exitCode !== 0 || !last.success) {
    throw new OrreryError(
      'backend_unavailable',
      `The search did not come to its end inside (${end.reason ?? end.signal ?? `exit ${end.exitCode}`}).`,
      { rule: 'What is not searched is not claimed.' },
    );
  }
  const outside = await searchOutside(canaries, {
    output: stderr,
    description: environment.describe(run),
    stateDir: options.stateDir,
  });
  await handle.finish();
  return { finds: [...lines.map((line) => foundLine.parse(line)), ...outside], looked: last.data.looked };
};

/**
 * Plants secrets in the node's environment, in files, and in the arguments and environment of another process; runs a
 * searching program in an environment of the backend; takes everything away again. Answers each find with whether the
 * backend promised that it could not be: `leaks.some(({ promised }) => promised)` is a failure. Never holds a secret.
 */
export const probeLeaks = async (options: LeakProbeOptions): Promise<LeakReport> => {
  const { backend, directory } = options;
  const guarantees = await backend.guarantees();
  const closed = (where: LeakPlace): boolean => {
    const by = CLOSED_BY[where];
    return by === undefined || guarantees.some(({ guarantee, held }) => guarantee === by && held);
  };
  const stage = join(directory, 'environment');
  await mkdir(stage);
  const planted = await plant(options);
  try {
    const environment = await backend.open({ ...(await selftestEnvironment(stage)), id: 'leak-probe' });
    try {
      const { finds, looked } = await searchInside(options, environment, planted.canaries);
      return {
        leaks: finds.map((find) => ({ ...find, promised: closed(find.where) })),
        planted: planted.canaries.map(({ name }) => name),
        looked,
      };
    } finally {
      await environment.close();
    }
  } finally {
    await planted.take();
  }
};
