// Glossary. A spawner starts commands: programs of which only the output and the ending count. Who needs one takes a
// spawner as argument; the node's own is a small process beside it (starter/), since starting from here means that the
// kernel copies the tables of the whole node's memory first, while everything else waits.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { OrreryError } from '@orrery/protocol/errors';

/** One command. It gets a session and process group of its own, no descriptor but its streams, and stdin is empty unless `input`. */
export type Command = {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** All of its environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether something is written to its stdin. */
  readonly input?: boolean;
  /** Whether its stderr is read; else it is thrown away. */
  readonly stderr?: boolean;
  /** Lives on when the node or its starter ends. Others end with them, and so does this one when the starter is lost before `release`. */
  readonly livesOn?: boolean;
  /** How much memory of its own it may have, and each program that it starts; beyond, it is refused more. Whole MiB. */
  readonly memoryBytes?: number;
};

/** The bound of a command as starters are told it; 0 is none. */
export const memoryMib = ({ memoryBytes = 0 }: Pick<Command, 'memoryBytes'>): number => Math.ceil(memoryBytes / 1_048_576);

/** The same bound where no starter sets it: a shell does, and becomes the program. */
const bounded = (command: Command): { program: string; args: readonly string[] } => {
  const mib = memoryMib(command);
  // A program that is not there must be found missing by who starts it, not by the shell.
  if (mib === 0 || !existsSync(command.program)) return command;
  return { program: '/bin/sh', args: ['-c', `ulimit -d ${mib * 1024} && exec "$@"`, 'sh', command.program, ...command.args] };
};

/** How a command ended. */
export type CommandEnding =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: number | string | null }
  /** There is no such program or folder, or the machine has no room. */
  | { readonly kind: 'not_started'; readonly cause: Error }
  /** Whoever started it is gone, and the command with it. */
  | { readonly kind: 'lost'; readonly cause: OrreryError };

/** A started command. */
export type StartedCommand = {
  /** Null without `input`. Errors when the command reads no more; an error that nobody listens to is no failure. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  /** Null without `stderr`. */
  readonly stderr: Readable | null;
  /** Resolves when the command has ended and its streams too. Never rejects. */
  readonly ended: Promise<CommandEnding>;
  /** Ends it with its group, without asking. Does nothing after its end. */
  endGroup(): void;
  /** Nothing more is wanted of it: closes its streams, lets it be. Its end is still told. */
  release(): void;
};

/** Starts commands. */
export type Spawner = {
  /** Answers at once; a command that cannot be started says so by `ended`. */
  start(command: Command): StartedCommand;
};

/** A spawner that starts from this process: for small programs and tests. */
export const directSpawner: Spawner = {
  start: (command) => {
    const { program, args } = bounded(command);
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: command.environment,
      stdio: [command.input === true ? 'pipe' : 'ignore', 'pipe', command.stderr === true ? 'pipe' : 'ignore'],
      detached: true,
    });
    const stdin = child.stdin as Writable | null;
    const stdout = child.stdout as Readable;
    const stderr = child.stderr as Readable | null;
    stdin?.on('error', () => undefined);
    const ended = new Promise<CommandEnding>((resolve) => {
      child.on('error', (cause) => resolve({ kind: 'not_started', cause }));
      child.on('close', (code, signal) => resolve({ kind: 'exited', code, signal }));
    });
    return {
      stdin,
      stdout,
      stderr,
      ended,
      endGroup: () => {
        // Not waited for while neither is known: the number is still its own.
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
        endGroupOf(child.pid);
      },
      release: () => {
        stdin?.destroy();
        stdout.destroy();
        stderr?.destroy();
        child.unref();
      },
    };
  },
};

/** Ends a whole process group, without asking. One that is gone is no failure. */
export const endGroupOf = (pid: number): void => {
  // 0 and 1 mean this process' own group and every process there is.
  if (!Number.isSafeInteger(pid) || pid <= 1) throw new RangeError(`${pid} is no process group`);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};
