// Starts one short program of the installer (npm, `--version`) and waits for its end.

import { spawn } from 'node:child_process';

export type ToRun = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

export type RanToEnd = {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
};

/** Runs a program; never rejects: one that cannot be started has no exit code and its reason as stderr. */
export type RunToEnd = (run: ToRun) => Promise<RanToEnd>;

/** What is kept of each stream: its end. */
const KEPT_CHARS = 64 * 1024;

export const runToEnd: RunToEnd = ({ command, args, cwd, env, timeoutMs }) =>
  new Promise((resolve) => {
    // A group of its own, so that what npm starts ends with it.
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const kept = { stdout: '', stderr: '' };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => (kept[stream] = (kept[stream] + text).slice(-KEPT_CHARS)));
    }
    const end = (exitCode: number | null): void => {
      clearTimeout(timer);
      resolve({ exitCode, ...kept, timedOut });
    };
    child.once('error', (fault) => {
      kept.stderr += fault.message;
      end(null);
    });
    child.once('close', end);
  });
