import { randomBytes } from 'node:crypto';
import { text as readAll } from 'node:stream/consumers';
import { createProcesses, type Processes } from './node-process.ts';

/** A stream that is written to. */
export type Output = {
  write(text: string): void;
  /** Resolves when there is room for more. */
  bytes(piece: Uint8Array): Promise<void>;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
};

/** What is typed or piped, as it comes. */
export type Input = {
  /** What it answers is waited for before more is read. */
  readonly onBytes: (bytes: Uint8Array) => Promise<void> | undefined;
  readonly onEnd: () => void;
};

/** Everything of the machine that the command line touches; tests give their own. */
export type World = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** `read` answers all of it; `readLine` and `readHidden` ask on the terminal, the second without echo. Null: the input ended. */
  readonly stdin: {
    readonly isTTY: boolean;
    read(): Promise<string>;
    readLine(question: string): Promise<string | null>;
    readHidden(question: string): Promise<string>;
    /** Hands on what comes, each key by itself when it is a terminal; answers how to stop that. */
    follow(input: Input): () => void;
  };
  /** Calls `listener` when the terminal has another size; answers how to stop that. */
  onResize(listener: () => void): () => void;
  /** Milliseconds since 1970. */
  now(): number;
  random(bytes: number): Uint8Array;
  sleep(ms: number): Promise<void>;
  /** Calls `listener` on Ctrl-C and on SIGTERM instead of ending; answers how to stop that. */
  onStop(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  readonly processes: Processes;
};

const outputOf = (stream: NodeJS.WriteStream): Output => ({
  write: (text) => void stream.write(text),
  get isTTY() {
    return stream.isTTY === true;
  },
  bytes: (piece) =>
    new Promise((resolve, reject) => {
      stream.write(piece, (fault) => (fault === undefined || fault === null ? resolve() : reject(fault)));
    }),
  get columns() {
    return stream.columns ?? 80;
  },
  get rows() {
    return stream.rows ?? 24;
  },
});

const followInput = ({ onBytes, onEnd }: Input): (() => void) => {
  const { stdin } = process;
  const raw = stdin.isTTY === true;
  if (raw) stdin.setRawMode(true);
  let over = false;
  const take = (bytes: Uint8Array): void => {
    const room = onBytes(bytes);
    if (room === undefined) return;
    stdin.pause();
    void room.then(() => (over ? undefined : stdin.resume()));
  };
  // A file has no ref to hold.
  const held: { ref?: () => unknown; unref?: () => unknown } = stdin;
  held.ref?.();
  stdin.on('data', take).on('end', onEnd).resume();
  return () => {
    over = true;
    stdin.off('data', take).off('end', onEnd).pause();
    // A pipe that still brings something keeps no command from ending.
    held.unref?.();
    if (raw) stdin.setRawMode(false);
  };
};

/** The real machine. */
export const systemWorld = (): World => ({
  env: process.env,
  cwd: process.cwd(),
  stdout: outputOf(process.stdout),
  stderr: outputOf(process.stderr),
  stdin: { isTTY: process.stdin.isTTY === true, read: () => readAll(process.stdin), readLine, readHidden, follow: followInput },
  onResize: (listener) => {
    process.stdout.on('resize', listener);
    return () => void process.stdout.off('resize', listener);
  },
  now: Date.now,
  random: (bytes) => randomBytes(bytes),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  onStop: (listener) => {
    const interrupt = (): void => listener('SIGINT');
    const terminate = (): void => listener('SIGTERM');
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', terminate);
    process.on('SIGHUP', terminate);
    return () => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
      process.off('SIGHUP', terminate);
    };
  },
  processes: createProcesses(process.env),
});

/** Reads one line from the terminal; Ctrl-C ends the command as ever, Ctrl-D answers null. */
const readLine = async (question: string): Promise<string | null> => {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(null));
    lines.once('SIGINT', () => {
      lines.close();
      process.kill(process.pid, 'SIGINT');
    });
    lines.question(question, (said) => {
      resolve(said);
      lines.close();
    });
  });
};

/** Reads one line from the terminal without showing it; Ctrl-C rejects. */
const readHidden = async (question: string): Promise<string> => {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = '';
      stdin.setEncoding('utf8');
      stdin.on('data', (piece: string) => {
        for (const character of piece) {
          if (character === '\r' || character === '\n' || character === '\u0004') return resolve(typed);
          if (character === '\u0003') return reject(new Error('interrupted'));
          typed = character === '\u007f' ? typed.slice(0, -1) : typed + character;
        }
      });
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
};
