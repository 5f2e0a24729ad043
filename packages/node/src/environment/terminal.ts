// One program that people look at: its output to every viewer from where each is, its input from one of them.

import type { TerminalFrame } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Handle, RunEnd } from '../exec/backend.ts';
import type { OutputStream } from '../keeper/types.ts';
import { sizeFor, type TerminalSize, type ViewerSize } from './terminal-size.ts';

/** Output of a terminal that can be replayed; what is older is gone. */
const TERMINAL_SPOOL_BYTES = 8 * 1024 * 1024;
/** Output is given up in steps: each is recorded. */
const RELEASE_STEP_BYTES = 1024 * 1024;
/** What of a program's streams is kept for a viewer whose connection broke. */
const STREAM_KEPT_BYTES = 1024 * 1024;
/** Viewers of one program. */
const VIEWERS = 32;

/** How a viewer is told things. `bytes` resolves when there is room for more, and rejects when the viewer is gone. */
export type ViewerDoor = {
  control(frame: TerminalFrame): void;
  bytes(stream: OutputStream, offset: number, bytes: Uint8Array): Promise<void>;
};

/** Where a viewer's replay begins. */
export type ViewerStart = {
  /** Identifies its input; the same again after a broken connection: nothing is written twice. */
  readonly viewer: string;
  readonly stdout: number;
  readonly stderr: number;
  readonly size: ViewerSize;
};

/** One viewer, let in. */
export type Viewer = {
  resize(size: ViewerSize): void;
  /** Writes, if this viewer is the one who does. `offset`: of the first byte in all that it ever wrote. */
  input(offset: number, bytes: Uint8Array): Promise<void>;
  take(): void;
  /** Ends the program's input after everything written. Rejects when another writes. */
  endInput(): Promise<void>;
  leave(): void;
};

export type Terminal = {
  readonly generation: number;
  readonly tty: boolean;
  readonly viewers: number;
  readonly handle: Handle;
  /** Rejects with `limit_reached` when there are too many viewers. */
  attach(door: ViewerDoor, start: ViewerStart): Viewer;
  /** How it ended, or null. */
  ended(): RunEnd | null;
  /** Lets go of it; the program goes on. */
  detach(): void;
};

type Seat = { readonly door: ViewerDoor; size: ViewerSize; gone: boolean };

/** What a hub is made of. */
type TerminalGiven = {
  readonly handle: Handle;
  readonly tty: boolean;
  readonly generation: number;
  readonly size: TerminalSize;
  /** Output below it is gone already. */
  readonly released: number;
  /** Recorded before it is done: output below `offset` will be gone. */
  readonly onRelease: (offset: number) => Promise<void>;
  readonly onEnd: (end: RunEnd) => void;
};

/** Makes the hub of a running program; `size` is the terminal's now. */
export const createTerminal = (given: TerminalGiven): Terminal => {
  const { handle, tty, generation } = given;
  const seats = new Set<Seat>();
  let size = given.size;
  let writer: Seat | null = null;
  let end: RunEnd | null = null;
  let writing: Promise<unknown> = Promise.resolve();
  let detached = false;

  const settle = (): void => {
    const wanted = tty ? sizeFor([...seats].map((seat) => seat.size)) : null;
    if (wanted === null || (wanted.columns === size.columns && wanted.rows === size.rows)) return;
    size = wanted;
    for (const { door } of seats) door.control({ type: 'size', ...size });
    handle.resize(size.columns, size.rows).catch(() => undefined);
  };
  const writerFor = (seat: Seat): 'you' | 'other' | 'none' => (writer === null ? 'none' : writer === seat ? 'you' : 'other');
  const setWriter = (next: Seat | null): void => {
    if (writer === next) return;
    writer = next;
    for (const seat of seats) seat.door.control({ type: 'writer', writer: writerFor(seat) });
  };

  const replay = createReplay(given);

  handle.wait().then(
    (over) => {
      end = over;
      if (!detached) given.onEnd(over);
    },
    () => undefined,
  );
  if (tty) replay.keepReading().catch(() => undefined);

  return {
    generation,
    tty,
    handle,
    get viewers() {
      return seats.size;
    },
    ended: () => end,
    attach(door, start) {
      if (seats.size >= VIEWERS) throw tooManyViewers();
      const seat: Seat = { door, size: start.size, gone: false };
      seats.add(seat);
      door.control({ type: 'hello', generation, tty, viewer: start.viewer, writer: writerFor(seat) });
      settle();
      door.control({ type: 'size', ...size });
      const leave = (): void => {
        if (seat.gone) return;
        seat.gone = true;
        seats.delete(seat);
        if (writer === seat) setWriter(null);
        settle();
      };
      replay.follow(seat, start).catch((thrown: unknown) => {
        if (seat.gone) return;
        const { code, message } = toOrreryError(thrown);
        door.control({ type: 'refused', code, message });
      });
      return {
        resize(next) {
          seat.size = next;
          settle();
        },
        take: () => setWriter(seat),
        input(offset, bytes) {
          if (writer === null) setWriter(seat);
          if (writer !== seat) return Promise.reject(notTheWriter());
          const next = writing.then(() => handle.write(`${start.viewer}.${offset}`, bytes));
          writing = next.catch(() => undefined);
          return next.then(() => undefined);
        },
        async endInput() {
          if (writer !== null && writer !== seat) throw notTheWriter();
          await writing;
          await handle.closeInput();
        },
        leave,
      };
    },
    detach() {
      detached = true;
      for (const seat of seats) seat.gone = true;
      handle.detach();
    },
  };
};

/** Output to viewers from where each is, and how much of it is kept. */
const createReplay = ({ handle, tty, released: from, onRelease }: TerminalGiven) => {
  let released = from;
  /** The end of a terminal's output is kept, whoever looks: else the program would wait for somebody to. */
  const keepReading = async (): Promise<void> => {
    for await (const { offset, bytes } of handle.output('stdout', released)) {
      const upTo = offset + bytes.length - TERMINAL_SPOOL_BYTES;
      if (upTo < released + RELEASE_STEP_BYTES) continue;
      await onRelease(upTo);
      released = upTo;
      await handle.release('stdout', upTo);
    }
  };

  const pump = async (seat: Seat, stream: OutputStream, from: number): Promise<void> => {
    for await (const { offset, bytes } of handle.output(stream, from)) {
      if (seat.gone) return;
      await seat.door.bytes(stream, offset, bytes);
      const upTo = offset + bytes.length - STREAM_KEPT_BYTES;
      if (!tty && upTo > 0) await handle.release(stream, upTo);
    }
  };

  /** Replays from an offset; one that is gone already is said and the replay begins with what is left. */
  const show = async (seat: Seat, stream: OutputStream, from: number): Promise<void> => {
    try {
      await pump(seat, stream, from);
    } catch (thrown) {
      if (seat.gone || toOrreryError(thrown).code !== 'history_expired') throw thrown;
      const offset = stream === 'stdout' ? released : from;
      seat.door.control({ type: 'desync', stream, offset });
      await pump(seat, stream, offset);
    }
  };

  const follow = async (seat: Seat, start: ViewerStart): Promise<void> => {
    const streams = tty
      ? [show(seat, 'stdout', start.stdout)]
      : [show(seat, 'stdout', start.stdout), show(seat, 'stderr', start.stderr)];
    await Promise.all(streams);
    const { exitCode, signal, limit, reason } = await handle.wait();
    if (!seat.gone) seat.door.control({ type: 'exit', exitCode, signal, limit, reason });
  };
  return { keepReading, follow };
};

const tooManyViewers = (): OrreryError =>
  new OrreryError('limit_reached', `The terminal has ${VIEWERS} viewers.`, { rule: 'Viewers of one terminal are bounded.' });

const notTheWriter = (): OrreryError =>
  new OrreryError('busy', 'Somebody else writes in this terminal.', {
    rule: 'One viewer writes at a time; the others look on.',
    fix: 'Take it over: orrery env shell ENV --attach TERMINAL --take',
  });
