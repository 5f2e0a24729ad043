// How keepers are started, with nothing of the node's own environment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { Spawner, StartedCommand } from '../kernel/spawner.ts';
import { PROBE_MS, READY_MS } from './limits.ts';
import { keeperLost } from './lost.ts';
import { readProbe } from './records.ts';
import type { GuaranteeReport, KeeperIdentity } from './types.ts';

/** How keepers are started: `environment` is all they get (a keeper needs none; sanitizer builds take options). */
export type KeeperProgram = { readonly binary: string; readonly environment: Readonly<Record<string, string>> };

/** What a starting keeper says first. */
export type FirstWord =
  | { readonly kind: 'ready'; readonly identity: KeeperIdentity }
  | { readonly kind: 'refused'; readonly reason: string };

const LINE_BYTES = 4096;

const cannotStart = (binary: string, cause: unknown): OrreryError =>
  new OrreryError('backend_unavailable', `The keeper program ${binary} could not be started.`, {
    rule: 'Every program runs under a keeper.',
    fix: 'Check that the file is there and executable: orrery doctor',
    cause,
  });

/** The first line of a keeper, read; null when it is none. */
export const readFirstWord = (line: string): FirstWord | null => {
  const ready = /^ready (\d+) (\d+) (\S+)$/.exec(line);
  if (ready !== null)
    return { kind: 'ready', identity: { pid: Number(ready[1]), startTicks: Number(ready[2]), bootId: ready[3]! } };
  return line.startsWith('refused ') ? { kind: 'refused', reason: line.slice('refused '.length) } : null;
};

/**
 * Starts the keeper of `dir` and answers its first word. The keeper is detached, has no descriptor of the node but the
 * one it answers on, and lives on when the node ends. Rejects (and ends what was started) when it says nothing in time.
 */
export const startKeeper = async (program: KeeperProgram, dir: string, spawner: Spawner): Promise<FirstWord> => {
  const { binary, environment } = program;
  const command = spawner.start({ program: binary, args: ['run', '--dir', dir], cwd: '/', environment, livesOn: true });
  const failed = failureOf(command, binary);
  // Raced below; a failure after the first word has nobody waiting for it.
  failed.catch(() => undefined);
  const timer = setTimeout(() => command.stdout.destroy(new Error(`no word in ${READY_MS} ms`)), READY_MS);
  try {
    const line = await Promise.race([readLine(command.stdout), failed]);
    const word = readFirstWord(line);
    if (word === null) throw keeperLost('it ended before it was ready');
    command.release();
    return word;
  } catch (thrown) {
    command.endGroup();
    command.release();
    await command.ended;
    throw thrown instanceof OrreryError ? thrown : keeperLost('it did not say that it is ready', thrown);
  } finally {
    clearTimeout(timer);
  }
};

/** Rejects when the command could not be started or was lost; what it says tells of every other end. */
const failureOf = (command: StartedCommand, binary: string): Promise<never> =>
  new Promise((_, reject) => {
    void command.ended.then((ending) => {
      if (ending.kind === 'not_started') reject(cannotStart(binary, ending.cause));
      if (ending.kind === 'lost') reject(ending.cause);
    });
  });

const readLine = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  let text = '';
  for await (const bytes of stream) {
    text += bytes.toString('utf8');
    const end = text.indexOf('\n');
    if (end !== -1) return text.slice(0, end);
    if (text.length > LINE_BYTES) break;
  }
  return text;
};

const readAll = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const bytes of stream) parts.push(bytes);
  return Buffer.concat(parts).toString('utf8');
};

/** What a confined run would get on this machine, tried for real by the keeper program. */
export const probeMachine = async (program: KeeperProgram): Promise<readonly GuaranteeReport[]> => {
  const child = spawn(program.binary, ['probe'], {
    cwd: '/',
    env: program.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: PROBE_MS,
    killSignal: 'SIGKILL',
  });
  const failed = once(child, 'error').then(([cause]) => Promise.reject(cannotStart(program.binary, cause)));
  failed.catch(() => undefined);
  const text = await Promise.race([readAll(child.stdout), failed]);
  try {
    return readProbe(JSON.parse(text));
  } catch (thrown) {
    throw new OrreryError('backend_unavailable', 'The keeper program could not say what this machine can guarantee.', {
      fix: `Run it by hand: ${program.binary} probe`,
      cause: thrown,
    });
  }
};

/** A connection to the keeper of `dir` through the keeper program, for paths that no socket address can hold. */
export const attachByProgram = (program: KeeperProgram, dir: string): Duplex => {
  const child = spawn(program.binary, ['attach', dir], { cwd: '/', env: program.environment, stdio: ['pipe', 'pipe', 'ignore'] });
  const duplex = Duplex.from({ readable: child.stdout, writable: child.stdin });
  child.on('error', (thrown) => duplex.destroy(thrown));
  return duplex;
};
