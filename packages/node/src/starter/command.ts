import { Readable, Writable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import type { Command, CommandEnding, StartedCommand } from '../kernel/spawner.ts';
import { encodeCredit, type ASK, type StarterFrame } from './frames.ts';
import { CREDIT_BYTES, INPUT_WINDOW_BYTES, OUTPUT_WINDOW_BYTES } from './limits.ts';

type Send = (type: keyof typeof ASK, payload?: Uint8Array) => void;

/** One command of a starter, seen from both sides. */
export type RemoteCommand = {
  readonly started: StartedCommand;
  /** Takes up what the starter said of it. */
  take(frame: StarterFrame): void;
  /** Ends it without a word of the starter. */
  fail(ending: CommandEnding): void;
  /** The number of its process once that is known. */
  pid(): number | null;
  released(): boolean;
  /** Nothing of it can come any more. */
  over(): boolean;
};

const systemError = (errno: number): Error => {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`the command could not be started: ${code}`), { code });
};

const brokenPipe = (): Error => Object.assign(new Error('the command reads no more'), { code: 'EPIPE' });

type Output = { readonly stream: Readable; push(bytes: Buffer): void };

const openOutput = (send: Send, code: 0 | 1): Output => {
  let taken = 0;
  const grant = (): void => {
    if (taken < CREDIT_BYTES) return;
    send('credit', encodeCredit(code, taken));
    taken = 0;
  };
  const stream = new Readable({ highWaterMark: OUTPUT_WINDOW_BYTES, read: grant });
  return {
    stream,
    push: (bytes) => {
      taken += bytes.length;
      // A stream that was closed here takes and forgets, so that the command is not left waiting.
      if (stream.destroyed) grant();
      else stream.push(bytes);
    },
  };
};

type Input = { readonly stream: Writable; room(bytes: number): void };

const openInput = (send: Send): Input => {
  let room = INPUT_WINDOW_BYTES;
  let waiting: { bytes: Buffer; readonly done: () => void } | null = null;
  const pump = (): void => {
    while (waiting !== null && room > 0) {
      const { bytes, done } = waiting;
      const piece = bytes.subarray(0, room);
      if (piece.length > 0) send('input', piece);
      room -= piece.length;
      waiting = piece.length === bytes.length ? null : { bytes: bytes.subarray(piece.length), done };
      if (waiting === null) done();
    }
  };
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      waiting = { bytes: chunk, done };
      pump();
    },
    final: (done) => {
      send('closeInput');
      done();
    },
  });
  stream.on('error', () => undefined);
  return {
    stream,
    room: (bytes) => {
      room += bytes;
      pump();
    },
  };
};

/** Who hears what became of a command. */
export type CommandWatch = {
  readonly send: Send;
  /** Called when nobody waits for it any more: it was released, or nothing of it can come. May be called twice. */
  readonly onIdle: () => void;
};

/** The node's side of one command. */
export const createRemoteCommand = (command: Command, { send, onIdle }: CommandWatch): RemoteCommand => {
  const outputs = [openOutput(send, 0), ...(command.stderr === true ? [openOutput(send, 1)] : [])];
  const input = command.input === true ? openInput(send) : null;
  const ended = Promise.withResolvers<CommandEnding>();
  let ending: CommandEnding | null = null;
  let pid: number | null = null;
  let released = false;
  let unread = outputs.length;
  let open = outputs.length;
  const settle = (): void => {
    if (ending !== null && open === 0) ended.resolve(ending);
  };
  for (const { stream } of outputs)
    stream.on('close', () => {
      open -= 1;
      settle();
    });
  const endInput = (): void => {
    if (input !== null && !input.stream.writableFinished) input.stream.destroy(brokenPipe());
  };
  const finish = (how: CommandEnding): void => {
    ending ??= how;
    endInput();
    settle();
    // Nobody may read it, and the end is told all the same.
    for (const { stream } of outputs) if (stream.readableFlowing === null) stream.resume();
  };
  const fail = (how: CommandEnding): void => {
    unread = 0;
    finish(how);
    for (const { stream } of outputs) stream.destroy();
    onIdle();
  };
  const endOutput = (stream: 0 | 1): void => {
    unread -= 1;
    outputs[stream]?.stream.push(null);
  };
  const release = (): void => {
    if (released) return;
    released = true;
    send('release');
    input?.stream.destroy();
    for (const { stream } of outputs) stream.destroy();
    onIdle();
  };
  const over = (): boolean => ending !== null && (unread <= 0 || released);
  const take = (frame: StarterFrame): void => {
    if (frame.kind === 'started') pid = frame.pid;
    else if (frame.kind === 'refused') fail({ kind: 'not_started', cause: systemError(frame.errno) });
    else if (frame.kind === 'output') outputs[frame.stream]?.push(frame.bytes);
    else if (frame.kind === 'eof') endOutput(frame.stream);
    else if (frame.kind === 'room') input?.room(frame.bytes);
    else if (frame.kind === 'input-ended') endInput();
    else finish({ kind: 'exited', code: frame.code, signal: frame.signal });
    if (over()) onIdle();
  };
  const endGroup = (): void => {
    if (!over()) send('kill');
  };
  return {
    started: {
      stdin: input?.stream ?? null,
      stdout: outputs[0]!.stream,
      stderr: outputs[1]?.stream ?? null,
      ended: ended.promise,
      endGroup,
      release,
    },
    take,
    fail,
    pid: () => pid,
    released: () => released,
    over,
  };
};

/** A command that no starter ever heard of. */
export const failedCommand = (command: Command, ending: CommandEnding): StartedCommand => {
  const remote = createRemoteCommand(command, { send: () => undefined, onIdle: () => undefined });
  remote.fail(ending);
  return remote.started;
};
