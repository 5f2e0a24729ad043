// The one place of the command line that starts processes: the node's own program, and a pager.
import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { fromErrorBody, OrreryError, type ErrorBody } from '@orrery/protocol/errors';

/** One JSON line that the node's program wrote on its standard output. */
export type NodeLine = Readonly<Record<string, unknown>>;

/** What a child of the node's program was started with. `input` is given on standard input and nothing else. */
export type NodeCall = { readonly args: readonly string[]; readonly input?: string; readonly onLine?: (line: NodeLine) => void };

/** A node in the foreground. */
export type ForegroundNode = { readonly ended: Promise<number>; stop(): void };

/** Processes that the command line may start. */
export type Processes = {
  /** Starts a node; settles when it says that it is ready. Detached: it outlives this process, its errors go to `logFile`. */
  startNode(options: {
    readonly args: readonly string[];
    readonly logFile: string | null;
  }): Promise<{ readonly url: string; readonly node: ForegroundNode }>;
  /** Runs another verb of the node's program to its end and answers its last line. */
  callNode(call: NodeCall): Promise<NodeLine>;
  /** Shows text through a pager; false when none could be started. */
  page(command: string, text: string): Promise<boolean>;
  /** Shows a file in the user's browser; false when none could be started. */
  browse(file: string): Promise<boolean>;
  /** Shows a file in a window of its own; the name of the program that does, null when there is none. */
  window(file: string): Promise<string | null>;
  /** Whether a process of that id is there. */
  isAlive(pid: number): boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** How a node is told to take little memory and to give it back (docs/decisions/024). What the user set counts. */
export const sparingMemory = {
  flags: ['--max-semi-space-size=2', '--heap-growing-percent=30'],
  environment: { MALLOC_MMAP_THRESHOLD_: '65536' },
} as const;

/** Where the node's program is: where an import by its name finds it. */
const entryOfNode = (): string => {
  try {
    return createRequire(import.meta.url).resolve('@orrery/node/main');
  } catch (thrown) {
    throw new OrreryError('unsupported', "The node's program is not installed here.", {
      rule: 'The command line starts it as a process of its own.',
      fix: 'npm install @orrery/node',
      cause: thrown,
    });
  }
};

/** The processes of this machine. `entry` finds the node's program. */
export const createProcesses = (env: Environment, entry: () => string = entryOfNode): Processes => ({
  startNode: (options) => startNode({ env, entry }, options),
  callNode: (call) => callNode({ env, entry }, call),
  page: (command, text) => page(env, command, text),
  browse: (file) =>
    browse(env['BROWSER'] ?? (process.platform === 'darwin' ? 'open' : 'xdg-open'), { env, args: [file], waitMs: BROWSE_MS }),
  window: (file) => openWindow(env, file),
  isAlive: (pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch (thrown) {
      return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
    }
  },
});

type Program = { readonly env: Environment; readonly entry: () => string };
type Starting = Parameters<Processes['startNode']>[0];

const startNode = async ({ env, entry }: Program, { args, logFile }: Starting): ReturnType<Processes['startNode']> => {
  if (logFile !== null) mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = logFile === null ? 'inherit' : openSync(logFile, 'w', 0o600);
  // A foreground node is not in the terminal's process group: Ctrl-C reaches it once, through this process.
  const child = spawn(process.execPath, [...sparingMemory.flags, entry(), 'up', ...args], {
    env: { ...sparingMemory.environment, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', log],
  });
  if (typeof log === 'number') closeSync(log);
  const ended = endOf(child);
  const ready = new Promise<string>((resolve, reject) => {
    const read = linesOf(child, (line) => {
      if (typeof line['url'] === 'string') resolve(line['url']);
      if (isErrorLine(line)) reject(refusalToStart(fromErrorBody(line.error), logFile));
    });
    // What it wrote last may arrive after its end: that is read before anything is concluded.
    Promise.all([ended, read]).then(
      ([code]) => reject(neverReady(code, logFile)),
      (thrown: unknown) => reject(thrown),
    );
  });
  const url = await ready;
  if (logFile !== null) {
    child.stdout?.destroy();
    child.unref();
  }
  return { url, node: { ended, stop: () => void child.kill('SIGTERM') } };
};

/** A node that could not start for a reason of its own left more in its log, and cannot be asked. */
const refusalToStart = (error: OrreryError, logFile: string | null): OrreryError =>
  error.code === 'internal' && logFile !== null
    ? new OrreryError('internal', error.message, {
        rule: 'What it wrote before it ended is in its log.',
        fix: `cat ${logFile}`,
        cause: error,
      })
    : error;

const neverReady = (code: number, logFile: string | null): OrreryError =>
  new OrreryError('node_not_running', `The node ended with ${code} before it was ready.`, {
    rule: 'A node says on its first line that it is ready, or why not.',
    ...(logFile === null ? {} : { fix: `cat ${logFile}` }),
  });

const callNode = async ({ env, entry }: Program, { args, input, onLine }: NodeCall): Promise<NodeLine> => {
  const child = spawn(process.execPath, [entry(), ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input ?? '');
  let last: NodeLine | null = null;
  const read = linesOf(child, (line) => {
    last = line;
    onLine?.(line);
  });
  const code = await endOf(child);
  await read;
  const line = last as NodeLine | null;
  if (line !== null && isErrorLine(line)) throw fromErrorBody(line.error);
  if (line === null)
    throw new OrreryError('internal', `The node's program ended with ${code} and no answer.`, {
      fix: 'Look at what it wrote above.',
    });
  return line;
};

type ErrorLine = NodeLine & { readonly error: Partial<ErrorBody> & { message: string } };
const isErrorLine = (line: NodeLine): line is ErrorLine => {
  const error = line['error'];
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
};

const endOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });

/** Calls back for each line that is a JSON object; other lines are not ours and are left out. */
const linesOf = (child: ChildProcess, onLine: (line: NodeLine) => void): Promise<void> =>
  new Promise((resolve) => {
    if (child.stdout === null) return resolve();
    const reader = createInterface({ input: child.stdout });
    reader.on('close', resolve);
    reader.on('line', (text) => {
      if (!text.startsWith('{')) return;
      try {
        onLine(JSON.parse(text) as NodeLine);
      } catch {
        // A line that begins like JSON and is none is not an answer.
      }
    });
  });

/** How long a program that opens files in a browser is waited for: one that goes on longer is the browser itself. */
const BROWSE_MS = 5_000;
/** A browser that shows a window is not over while it does; one that cannot says so at once. */
const WINDOW_MS = 1_500;

/** Programs that show a page without a browser around it, in PATH or where a Mac has them. */
const WINDOWS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'brave-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Tries one after the other: which are there is told by starting them. */
const openWindow = async (env: Environment, file: string): Promise<string | null> => {
  for (const program of WINDOWS)
    if (await browse(program, { env, args: [`--app=${pathToFileURL(file).href}`], waitMs: WINDOW_MS })) return basename(program);
  return null;
};

const browse = async (
  command: string,
  { env, args, waitMs }: { readonly env: Environment; readonly args: readonly string[]; readonly waitMs: number },
): Promise<boolean> => {
  const child = spawn(command, args, { env, detached: true, stdio: 'ignore' });
  child.unref();
  const ended = endOf(child).then(
    (code) => code === 0,
    () => false,
  );
  let timer: NodeJS.Timeout | undefined;
  const goesOn = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), waitMs);
  });
  return Promise.race([ended, goesOn]).finally(() => clearTimeout(timer));
};

const page = (env: Environment, command: string, text: string): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { env: { LESS: 'FRX', ...env }, stdio: ['pipe', 'inherit', 'inherit'] });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code !== 127 && code !== 126));
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
