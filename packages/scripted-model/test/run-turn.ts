/** Runs one turn of an agent program to its end and hands back everything it said. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { AgentProgram, Line, Start, TurnPlace } from './agent-programs.ts';

export type Ended = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout that are JSON objects. */
  readonly lines: readonly Line[];
  readonly elapsedMs: number;
};

/** A place of its own under the temp folder, with a token file; `remove` deletes it. TMPDIR lies beside HOME, never above it. */
export function makePlace(
  url: string,
  more: { readonly token?: string; readonly quietMs?: number } = {},
): TurnPlace & { readonly root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'orrery-agent-'));
  const place = {
    root,
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
    work: join(root, 'work'),
    tokenFile: join(root, 'token'),
    url,
    quietMs: more.quietMs,
  };
  for (const folder of [place.home, place.tmp, place.work]) mkdirSync(folder);
  writeFileSync(place.tokenFile, more.token ?? 'made-up-run-token', { mode: 0o600 });
  return { ...place, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** One turn. After `limitMs` the whole process group is killed, and `signal` says SIGKILL. */
export function runTurn(
  program: AgentProgram,
  place: TurnPlace,
  turn: { readonly prompt: string; readonly resume?: string; readonly limitMs?: number },
): Promise<Ended> {
  program.prepare(place);
  return runToEnd(program.turn(place, turn), place.work, turn.limitMs ?? 60_000);
}

export function runToEnd(start: Start, cwd: string, limitMs: number): Promise<Ended> {
  const [file = '', ...args] = start.argv;
  const before = performance.now();
  const child = spawn(file, args, { cwd, env: start.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {}); // a program that ends early closes its stdin; its exit code tells
  child.stdin.end(start.stdin);
  const limit = setTimeout(() => killGroup(child.pid), limitMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      clearTimeout(limit);
      killGroup(child.pid);
      const stdout = Buffer.concat(out).toString('utf8');
      resolve({
        exitCode,
        signal,
        stdout,
        stderr: Buffer.concat(err).toString('utf8'),
        lines: jsonLines(stdout),
        elapsedMs: Math.round(performance.now() - before),
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the whole group has ended already
  }
}

function jsonLines(stdout: string): Line[] {
  return stdout.split('\n').flatMap((text) => {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === 'object' && value !== null ? [value as Line] : [];
    } catch {
      return []; // not JSON: the program's own log
    }
  });
}
