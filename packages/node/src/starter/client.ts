// The node's door to its starter: one small process, started when the first command is, that starts every other one.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { endGroupOf, type Command, type Spawner, type StartedCommand } from '../kernel/spawner.ts';
import { createRemoteCommand, failedCommand, type RemoteCommand } from './command.ts';
import { createFrameReader, encodeCommand, encodeFrame, type StarterFrame } from './frames.ts';
import { START_BYTES } from './limits.ts';

/** What a starter is made of. */
export type StarterOptions = {
  /** How to find the keeper program, whose verb the starter is; asked when it is needed. */
  readonly binary: () => string;
  /** The whole environment of the starter itself, never of what it starts. Default: empty. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** A spawner with a process of its own. */
export type Starter = Spawner & {
  /** The number of its process; null while there is none. */
  pid(): number | null;
  /** Ends it with all commands but those that live on. The next command starts another. */
  close(): Promise<void>;
};

type Session = {
  readonly process: ChildProcess;
  /** Asks it to end; resolves when it has, and keeps this process until then. */
  close(): Promise<void>;
  start(command: Command, payload: Buffer): StartedCommand;
};

const starterLost = (cause?: unknown): OrreryError =>
  new OrreryError('keeper_lost', 'The process that starts commands is gone, and the command with it.', {
    rule: 'A command ends with the process that started it; the next command starts another one.',
    fix: 'Run it again.',
    cause,
  });

const cannotStart = (binary: string, cause: unknown): OrreryError =>
  new OrreryError('backend_unavailable', `The keeper program ${binary} could not be started.`, {
    rule: 'Commands are started by a small process beside the node.',
    fix: 'Check that the file is there and executable: orrery doctor',
    cause,
  });

const tooLarge = (): Error => Object.assign(new Error('the command could not be started: E2BIG'), { code: 'E2BIG' });
const badText = (): Error => Object.assign(new Error('the command could not be started: EINVAL'), { code: 'EINVAL' });

const openSession = ({ binary, environment = {} }: StarterOptions, onGone: () => void): Session => {
  const path = binary();
  const child = spawn(path, ['starter'], { cwd: '/', env: environment, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  const commands = new Map<number, RemoteCommand>();
  const reader = createFrameReader();
  const closed = Promise.withResolvers<void>();
  let lastId = 0;
  let gone: OrreryError | null = null;
  // The streams of a child are sockets; the type does not say so.
  const ends = [child.stdin as Socket, child.stdout as Socket] as const;
  /** The node may end while nothing but released commands is left. */
  const keepAlive = (): void => {
    const waited = commands.values().some((command) => !command.released());
    for (const end of ends) end[waited ? 'ref' : 'unref']();
  };
  const lose = (cause: OrreryError): void => {
    gone ??= cause;
    onGone();
    for (const command of commands.values()) {
      // What was released lives on; of the others the kernel ends the first process, and the rest of its group is ended here.
      const pid = command.pid();
      if (pid !== null && !command.released() && !command.over()) endGroupOf(pid);
      command.fail({ kind: 'lost', cause });
    }
    commands.clear();
    closed.resolve();
  };
  child.unref();
  child.on('error', (cause) => lose(cannotStart(path, cause)));
  child.on('exit', onGone);
  child.on('close', () => lose(starterLost()));
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (bytes: Buffer) => {
    for (const frame of framesOf(bytes)) commands.get(frame.id)?.take(frame);
  });
  const framesOf = (bytes: Buffer): StarterFrame[] => {
    try {
      return reader.push(bytes);
    } catch (thrown) {
      gone = starterLost(thrown);
      child.kill('SIGKILL');
      return [];
    }
  };
  keepAlive();
  return {
    process: child,
    close: async () => {
      child.ref();
      child.stdin.end();
      await closed.promise;
    },
    start: (command, payload) => {
      if (gone !== null) return failedCommand(command, { kind: 'lost', cause: gone });
      const id = (lastId += 1);
      const remote = createRemoteCommand(command, {
        send: (type, body) => void child.stdin.write(encodeFrame(type, id, body)),
        onIdle: () => {
          if (remote.over()) commands.delete(id);
          keepAlive();
        },
      });
      commands.set(id, remote);
      keepAlive();
      child.stdin.write(encodeFrame('start', id, payload));
      return remote.started;
    },
  };
};

/** A starter. Its process begins with the first command, ends with `close` or the node, and is replaced when it is lost. */
export const createStarter = (options: StarterOptions): Starter => {
  let session: Session | null = null;
  const open = (): Session => {
    const opened: Session = openSession(options, () => {
      if (session === opened) session = null;
    });
    return opened;
  };
  return {
    start: (command) => {
      const payload = encodeCommand(command);
      if (payload === null) return failedCommand(command, { kind: 'not_started', cause: badText() });
      if (payload.length + 4 > START_BYTES) return failedCommand(command, { kind: 'not_started', cause: tooLarge() });
      try {
        session ??= open();
      } catch (thrown) {
        return failedCommand(command, { kind: 'lost', cause: toOrreryError(thrown) });
      }
      return session.start(command, payload);
    },
    pid: () => session?.process.pid ?? null,
    close: async () => {
      const closing = session;
      session = null;
      await closing?.close();
    },
  };
};
