import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '../../packages/node/src/main.ts');

/** How long a node may take to say that it is ready, ms: a loaded machine compiles nothing, but reads a lot. */
const READY_MS = 60_000;

/** How a process of the node ended. */
export type LifeEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** One process of the node. */
export type Life = {
  readonly url: string;
  readonly pid: number;
  /** From the spawn to the line that says it is ready, ms. */
  readonly readyMs: number;
  readonly ended: Promise<LifeEnd>;
  stderr(): string;
  /** SIGKILL. Resolves when it is dead; repeatable. */
  kill(): Promise<void>;
  /** Lets it die at a point that it comes to from now on; null: at none. */
  killAt(point: string | null): void;
  /** SIGTERM: running tasks end first. */
  stop(): Promise<LifeEnd>;
};

/** `main`: another program than the node's own, which starts one with something of the test's. `port`: default any. */
export type LifeOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly killAt?: string;
  readonly main?: string;
  readonly port?: string;
};

/** The node did not come up: what it said instead. */
export class NodeRefused extends Error {
  override readonly name = 'NodeRefused';
  readonly said: Readonly<Record<string, unknown>> | null;
  readonly code: number | null;
  constructor(said: Readonly<Record<string, unknown>> | null, code: number | null, stderr: string) {
    super(`the node ended with ${code} before it was ready: ${JSON.stringify(said)} ${stderr}`);
    this.said = said;
    this.code = code;
  }
}

type Where = { readonly data: string; readonly config: string; readonly env: Readonly<Record<string, string>> };

/** Starts a node and waits until it is ready, or throws `NodeRefused`. */
export const startLife = async ({ data, config, env }: Where, options: LifeOptions): Promise<Life> => {
  const from = performance.now();
  // Told by a file, so that one life can die at a point of its own for each test that it serves.
  const pointFile = join(data, '..', 'kill-at');
  const killAt = (point: string | null): void => writeFileSync(pointFile, point ?? '');
  killAt(options.killAt ?? null);
  const child = spawn(
    process.execPath,
    [options.main ?? MAIN, 'up', '--data', data, '--config', config, '--listen', `127.0.0.1:${options.port ?? '0'}`],
    {
      env: { ...env, ORRERY_TEST_KILL_AT: `@${pointFile}`, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: '/',
    },
  );
  let stderr = '';
  child.stderr.on('data', (piece: Buffer) => (stderr = `${stderr}${piece.toString('utf8')}`.slice(-20_000)));
  const ended = new Promise<LifeEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const url = await readyLine(child, ended, () => stderr);
  return {
    url,
    pid: child.pid ?? -1,
    readyMs: performance.now() - from,
    ended,
    stderr: () => stderr,
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
    killAt,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
};

const readyLine = async (child: ChildProcess, ended: Promise<LifeEnd>, stderr: () => string): Promise<string> => {
  let last: Readonly<Record<string, unknown>> | null = null;
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      last = JSON.parse(line) as Record<string, unknown>;
      if (last['ready'] === true) resolve(String(last['url']));
    });
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  try {
    const first = await Promise.race([ready, ended]);
    if (typeof first === 'string') return first;
    throw new NodeRefused(last, first.code, stderr());
  } finally {
    clearTimeout(timer);
  }
};
