import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');

export type CliOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  /** Called once, when the command has begun. */
  readonly began?: (signal: (name: NodeJS.Signals) => void) => void;
};

/** What a command line left behind. */
export type CliAnswer = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one envelope of `--json`. */
  envelope(): Envelope;
};

export type Envelope = {
  readonly schemaVersion: number;
  readonly action: string;
  readonly ok: boolean;
  readonly result?: { readonly [name: string]: unknown };
  readonly error?: { readonly code: string; readonly message: string; readonly exitCode: number; readonly fix: string | null };
  readonly receipt?: unknown;
};

/** A command that goes on until it is stopped. */
export type RunningCli = {
  /** What it has said so far. */
  said(): { readonly stdout: string; readonly stderr: string };
  /** SIGINT; answers its exit code. */
  stop(): Promise<number | null>;
};

/** Starts the command line and leaves it running. */
export const startCli = (
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): RunningCli => {
  const child = spawn(process.execPath, [MAIN, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (piece: string) => (said[stream] += piece));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    said: () => ({ ...said }),
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
};

/** Runs the command line to its end. */
export const runCli = (
  args: readonly string[],
  { cwd, env, input, began }: CliOptions & { readonly cwd: string },
): Promise<CliAnswer> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
    child.once('error', reject);
    child.once('close', (code) => {
      const stdout = Buffer.concat(out).toString('utf8');
      const stderr = Buffer.concat(err).toString('utf8');
      resolve({ code, stdout, stderr, envelope: () => readEnvelope(stdout, stderr) });
    });
    began?.((name) => void child.kill(name));
  });

const readEnvelope = (stdout: string, stderr: string): Envelope => {
  const lines = stdout.trim().split('\n');
  if (lines.length !== 1)
    throw new Error(`one envelope was expected, not ${lines.length} lines: ${stdout.slice(0, 500)} ${stderr}`);
  return JSON.parse(lines[0] ?? '') as Envelope;
};
