// Output to viewers from where each is, and how much of it is kept. What is given up can still be seen as a screen.

import { toOrreryError } from '@orrery/protocol/errors';
import type { OutputStream } from '../keeper/types.ts';
import type { Remembered } from './screen-file.ts';
import type { KeptScreen } from './screens-thread.ts';
import { exitFrame, type Seat, type TerminalGiven, type ViewerStart } from './terminal-model.ts';
import type { TerminalSize } from './terminal-size.ts';

/** Output of a terminal that can be replayed. */
const TERMINAL_SPOOL_BYTES = 8 * 1024 * 1024;
/** How far behind the output a viewer may be before it is cut off: below the window in which the program need not wait. */
const BEHIND_BYTES = 16 * 1024 * 1024;
/** Output is given up in steps: each is recorded. */
const RELEASE_STEP_BYTES = 1024 * 1024;
/** What of a program's streams is kept for a viewer whose connection broke. */
const STREAM_KEPT_BYTES = 1024 * 1024;
/** A screen is sent in pieces. */
const PIECE_BYTES = 64 * 1024;
/** Sizes that are remembered with the offset at which each was set; of more, the oldest are left out. */
const SIZES = 1_000;

type Known = { readonly remembered: Remembered | null; readonly size: TerminalSize; readonly seats: ReadonlySet<Seat> };

/** Begins to keep the end of a terminal's output, whoever looks: else the program would wait for somebody to. */
export const createReplay = (given: TerminalGiven, { remembered, size, seats }: Known) => {
  const { handle, tty } = given;
  const retention = createRetention(given, { remembered, size, seats });

  const pump = async (seat: Seat, stream: OutputStream, from: number): Promise<void> => {
    for await (const { offset, bytes } of handle.output(stream, from)) {
      if (seat.gone) return;
      if (stream === 'stdout') seat.at = offset;
      await seat.door.bytes(stream, offset, bytes);
      const upTo = offset + bytes.length - STREAM_KEPT_BYTES;
      if (!tty && upTo > 0) await handle.release(stream, upTo);
    }
  };

  /** Says that what lies between is gone, shows the screen as it was at some offset, and goes on from there. */
  const skip = async (seat: Seat, stream: OutputStream, from: number): Promise<void> => {
    const { released, screen } = retention.now();
    const offset = stream === 'stderr' ? from : (screen?.offset ?? released);
    if (stream === 'stdout') seat.at = offset;
    const drawn = screen === null || stream === 'stderr' ? null : Buffer.from(screen.text);
    const shown = drawn === null || screen === null ? null : { columns: screen.columns, rows: screen.rows, bytes: drawn.length };
    seat.door.control({ type: 'desync', stream, offset, screen: shown });
    for (let at = 0; drawn !== null && at < drawn.length; at += PIECE_BYTES)
      await seat.door.bytes('screen', offset, drawn.subarray(at, at + PIECE_BYTES));
    await pump(seat, stream, offset);
  };

  const show = async (seat: Seat, stream: OutputStream, from: number): Promise<void> => {
    if (tty && from < retention.now().released) return skip(seat, stream, from);
    try {
      await pump(seat, stream, from);
    } catch (thrown) {
      if (seat.gone || toOrreryError(thrown).code !== 'history_expired') throw thrown;
      await skip(seat, stream, from);
    }
  };

  return {
    /** The end of the output as far as it was read; 0 for streams. */
    newest: retention.newest,
    resized: retention.resized,
    close: retention.close,
    follow: async (seat: Seat, start: ViewerStart): Promise<void> => {
      const streams = tty
        ? [show(seat, 'stdout', start.stdout)]
        : [show(seat, 'stdout', start.stdout), show(seat, 'stderr', start.stderr)];
      await Promise.all(streams);
      const end = await handle.wait();
      if (seat.gone) return;
      seat.door.control(exitFrame(end));
    },
  };
};

type SizeAt = TerminalSize & { readonly offset: number };

/** Which part of a terminal's output is kept, and how the screen looked before it. */
const createRetention = (given: TerminalGiven, { remembered, size, seats }: Known) => {
  const { id, handle, tty, file, screens } = given;
  let released = remembered?.released ?? 0;
  let screen = remembered?.screen ?? null;
  const begin = screen?.offset ?? released;
  let newest = tty ? begin : 0;
  let sizes: readonly SizeAt[] = [
    { ...size, ...screen, offset: begin },
    ...(screen === null ? [] : [{ ...size, offset: begin }]),
  ];
  let model: KeptScreen | null = null;

  const sizeNow = (): TerminalSize => {
    const { columns, rows } = sizes.at(-1) ?? size;
    return { columns, rows };
  };

  /** Makes the screen of everything that was read so far. */
  const catchUp = async (): Promise<KeptScreen | null> => {
    const [first = { ...size, offset: begin }, ...later] = sizes;
    const fresh = screens.open(id, { columns: first.columns, rows: first.rows, screen: screen?.text ?? '' });
    if (fresh === null || newest === begin) return fresh;
    for await (const { offset, bytes } of handle.output('stdout', begin)) {
      while (later[0] !== undefined && later[0].offset <= offset) {
        const { columns, rows } = later.shift() ?? first;
        fresh.resize(columns, rows);
      }
      await fresh.feed(bytes.subarray(0, newest - offset));
      if (offset + bytes.length >= newest) break;
    }
    for (const { columns, rows } of later) fresh.resize(columns, rows);
    return fresh;
  };

  const withModel = async <T>(use: (model: KeptScreen) => Promise<T>): Promise<T | null> => {
    if (model === null) return null;
    // A screen that cannot be kept is none: that is said to who would have been shown it.
    return use(model).catch(() => {
      model = null;
      return null;
    });
  };

  const giveUp = async (upTo: number): Promise<void> => {
    const text = await withModel((kept) => kept.draw());
    screen = text === null ? null : { offset: newest, ...sizeNow(), text };
    await file.write({ ...sizeNow(), released: upTo, screen });
    released = upTo;
    for (const seat of seats) if (!seat.gone && seat.at < released) seat.door.cut('stdout', seat.at);
    await handle.release('stdout', upTo);
  };

  const bound = (): number => {
    const slowest = Math.min(...[...seats].filter(({ gone }) => !gone).map(({ at }) => at), Number.POSITIVE_INFINITY);
    const wanted = Math.max(Math.min(newest - TERMINAL_SPOOL_BYTES, slowest), newest - BEHIND_BYTES);
    return Math.min(wanted, given.needed?.() ?? Number.POSITIVE_INFINITY);
  };

  const keepReading = async (): Promise<void> => {
    let began = false;
    for await (const { offset, bytes } of handle.output('stdout', begin)) {
      await withModel((kept) => kept.feed(bytes));
      newest = offset + bytes.length;
      const upTo = bound();
      if (upTo < released + RELEASE_STEP_BYTES) continue;
      if (!began) model = await catchUp().catch(() => null);
      began = true;
      await giveUp(upTo);
    }
  };
  if (tty) {
    keepReading()
      .catch(() => undefined)
      .finally(() => model?.close());
  }

  return {
    now: () => ({ released, screen }),
    newest: () => newest,
    resized: (next: TerminalSize): void => {
      sizes = [...sizes, { ...next, offset: newest }].slice(-SIZES);
      model?.resize(next.columns, next.rows);
      file.write({ ...next, released, screen }).catch(() => undefined);
    },
    close: (): void => model?.close(),
  };
};
