// One program that people look at: its output to every viewer from where each is, its input from one of them.

import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Handle, RunEnd } from '../exec/backend.ts';
import { exitFrame, type Seat, type TerminalGiven, type ViewerDoor, type ViewerStart } from './terminal-model.ts';
import { createReplay } from './terminal-replay.ts';
import { sizeFor, type TerminalSize, type ViewerSize } from './terminal-size.ts';

/** Viewers of one program. */
const VIEWERS = 32;

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
  /** Resolves when everybody who looks was shown all there was, and the end. */
  shown(): Promise<void>;
  /** Nobody is shown any more of it; the program and its handle are left as they are. */
  close(): void;
};

/** Makes the hub of a running program, with what is remembered of its terminal. */
export const openTerminal = async (given: TerminalGiven): Promise<Terminal> => {
  const { handle, tty, generation } = given;
  const seats = new Set<Seat>();
  const remembered = tty ? await given.file.read() : null;
  let size: TerminalSize = remembered ?? given.size;
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
    replay.resized(size);
  };
  const writerFor = (seat: Seat): 'you' | 'other' | 'none' => (writer === null ? 'none' : writer === seat ? 'you' : 'other');
  const setWriter = (next: Seat | null): void => {
    if (writer === next) return;
    writer = next;
    for (const seat of seats) seat.door.control({ type: 'writer', writer: writerFor(seat) });
  };

  const replay = createReplay(given, { remembered, size, seats });

  handle.wait().then(
    (over) => {
      end = over;
      if (!detached) given.onEnd(over);
    },
    () => undefined,
  );
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
      const seat: Seat = { door, size: start.size, gone: false, at: start.stdout, followed: Promise.resolve() };
      seats.add(seat);
      const { viewer } = start;
      door.control({ type: 'hello', generation, tty, viewer, writer: writerFor(seat), replayUntil: replay.newest() });
      settle();
      door.control({ type: 'size', ...size });
      const leave = (): void => {
        if (seat.gone) return;
        seat.gone = true;
        seats.delete(seat);
        if (writer === seat) setWriter(null);
        settle();
      };
      seat.followed = replay.follow(seat, start).catch((thrown: unknown) => {
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
          given.onInput?.();
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
    shown: async () => {
      await Promise.all([...seats].map(({ followed }) => followed));
    },
    close() {
      detached = true;
      for (const seat of seats) {
        if (end !== null && !seat.gone) seat.door.control(exitFrame(end));
        seat.gone = true;
      }
      replay.close();
    },
  };
};

const tooManyViewers = (): OrreryError =>
  new OrreryError('limit_reached', `The terminal has ${VIEWERS} viewers.`, { rule: 'Viewers of one terminal are bounded.' });

const notTheWriter = (): OrreryError =>
  new OrreryError('busy', 'Somebody else writes in this terminal.', {
    rule: 'One viewer writes at a time; the others look on.',
    fix: 'Take it over: orrery env shell ENV --attach TERMINAL --take',
  });
