// One program's terminal over connections that may break: each byte is drawn once, what is typed arrives once, and what
// is drawn again answers nothing.

import { createTyped } from '@orrery/client/typed';
import type { TerminalFrame } from '@orrery/protocol';
import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';

/** After so many drawn bytes the node is told, ms between tries of a connection. */
const TOLD_BYTES = 128 * 1024;
const AGAIN_MS = 500;
const AGAIN_MOST_MS = 5_000;

/** How a program ended. */
type Exit = Extract<TerminalFrame, { type: 'exit' }>;

/** What stands around the terminal. */
export type Status = {
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly writer: 'you' | 'other' | 'none';
  readonly tty: boolean;
  readonly notice: string | null;
  readonly exit: Exit | null;
};

/** Where output is drawn. Everything is done in the order in which it is asked for. */
export type Screen = {
  /** `replay`: it was shown before, so what it asks of a terminal stays unanswered. `done`: it was drawn. */
  write(bytes: Uint8Array, replay: boolean, done: () => void): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  clear(): void;
};

/** A connection. */
export type Door = { send(data: string | Uint8Array): void; close(): void };

/** What a connection says. */
export type Hears = { text(said: string): void; bytes(bytes: Uint8Array): void; closed(): void };

export type SessionGiven = {
  readonly connect: (query: string, hears: Hears) => Door;
  readonly screen: Screen;
  readonly tell: (status: Status) => void;
  /** Does something later; what it answers calls that off. */
  readonly later: (ms: number, then: () => void) => () => void;
};

export type TerminalSession = {
  /** Sends what was typed. `person`: a key or a paste, which takes over from who writes elsewhere. */
  type(bytes: Uint8Array, person: boolean): void;
  resize(size: { readonly columns: number; readonly rows: number; readonly visible: boolean }): void;
  take(): void;
  close(): void;
};

const before: Status = { connection: 'connecting', writer: 'none', tty: true, notice: null, exit: null };

/** Opens it and keeps it open until it is closed or its program has ended. */
export const openSession = (given: SessionGiven): TerminalSession => {
  const { tell, later } = given;
  let status = before;
  let viewer = '';
  let generation = 0;
  let door: Door | null = null;
  let greeted = false;
  let closed = false;
  let tries = 0;
  let callOff: () => void = () => undefined;
  let size = { columns: 0, rows: 0, visible: true };

  const say = (change: Partial<Status>): void => tell((status = { ...status, ...change }));
  const send = (frame: object): void => {
    if (greeted) door?.send(JSON.stringify(frame));
  };
  const drawn = drawing(given.screen, (at) => send({ type: 'seen', ...at }));
  const typed = createTyped(({ offset, bytes }) => {
    if (greeted) door?.send(encodeTerminalBytes({ stream: 'stdin', generation, offset, bytes }));
  });
  const sendSize = (): void => {
    if (size.columns > 0 && size.rows > 0) send({ type: 'size', ...size });
  };
  const greet = (frame: Extract<TerminalFrame, { type: 'hello' }>): void => {
    ({ viewer, generation } = frame);
    greeted = true;
    tries = 0;
    drawn.replayUntil(frame.replayUntil);
    say({ connection: 'live', writer: frame.writer, tty: frame.tty, notice: null });
    sendSize();
    typed.sendAgain();
  };
  const hear = (frame: TerminalFrame): void => {
    switch (frame.type) {
      case 'hello':
        return greet(frame);
      case 'size':
        return drawn.resize(frame);
      case 'desync':
        if (frame.screen === null) say({ notice: 'Older output is gone; what is shown begins later.' });
        return drawn.skip(frame);
      case 'took':
        return typed.took(frame.offset);
      case 'writer':
        if (frame.writer === 'other') typed.forget();
        return say({ writer: frame.writer });
      case 'refused':
        typed.forget();
        return say({ notice: frame.message });
      case 'exit':
        return say({ exit: frame });
    }
  };
  const open = (): void => {
    const { stdout, stderr } = drawn.at();
    const query = `window=1&stdout=${stdout}&stderr=${stderr}${viewer === '' ? '' : `&viewer=${viewer}`}`;
    door = given.connect(query, {
      text: (said) => hear(JSON.parse(said) as TerminalFrame),
      bytes: drawn.take,
      closed: () => {
        greeted = false;
        door = null;
        if (closed || status.exit !== null) return;
        say({ connection: 'lost' });
        callOff = later(Math.min(AGAIN_MOST_MS, AGAIN_MS * 2 ** Math.min(tries, 8)), open);
        tries += 1;
      },
    });
  };
  open();
  return {
    type(bytes, person) {
      if (status.exit !== null) return;
      if (status.writer === 'other') {
        if (!person) return;
        send({ type: 'take' });
      }
      // Who types faster than the program reads is held back by the node; what waits here is bounded by what a person types.
      void typed.push(bytes);
    },
    resize(next) {
      if (next.columns === size.columns && next.rows === size.rows && next.visible === size.visible) return;
      size = next;
      sendSize();
    },
    take: () => send({ type: 'take' }),
    close() {
      closed = true;
      callOff();
      door?.close();
    },
  };
};

type Offsets = { readonly stdout: number; readonly stderr: number };

/** Draws each byte once. `onDrawn` is told how far, so that no more than a window is on its way. */
const drawing = (screen: Screen, onDrawn: (at: Offsets) => void) => {
  const at = { stdout: 0, stderr: 0 };
  const done = { stdout: 0, stderr: 0 };
  let told = 0;
  let again = 0;
  let screenBytes = 0;
  let size = { columns: 80, rows: 24 };
  const drawnUntil = (stream: 'stdout' | 'stderr', offset: number) => (): void => {
    done[stream] = offset;
    if (done.stdout + done.stderr - told < TOLD_BYTES) return;
    told = done.stdout + done.stderr;
    onDrawn({ ...done });
  };
  const show = (stream: 'stdout' | 'stderr', offset: number, bytes: Uint8Array): void => {
    // What came before the connection broke may come again.
    const fresh = bytes.subarray(Math.max(0, at[stream] - offset));
    if (fresh.length === 0) return;
    const from = offset + bytes.length - fresh.length;
    at[stream] = offset + bytes.length;
    const old = Math.max(0, Math.min(fresh.length, again - from));
    if (old > 0) screen.write(fresh.subarray(0, old), true, drawnUntil(stream, from + old));
    if (old < fresh.length) screen.write(fresh.subarray(old), false, drawnUntil(stream, at[stream]));
  };
  return {
    at: (): Offsets => ({ ...at }),
    replayUntil: (offset: number): void => {
      again = offset;
      told = 0;
    },
    resize: (next: { readonly columns: number; readonly rows: number }): void => {
      size = { columns: next.columns, rows: next.rows };
      screen.resize(size);
    },
    skip: ({ stream, offset, screen: kept }: Extract<TerminalFrame, { type: 'desync' }>): void => {
      at[stream] = offset;
      if (kept === null) return;
      screenBytes = kept.bytes;
      screen.clear();
      screen.resize(kept);
    },
    take: (data: Uint8Array): void => {
      const frame = decodeTerminalBytes(data);
      if (frame === null || frame.stream === 'stdin') return;
      if (frame.stream !== 'screen') return show(frame.stream, frame.offset, frame.bytes);
      screenBytes -= frame.bytes.length;
      screen.write(frame.bytes, true, () => undefined);
      if (screenBytes <= 0) screen.resize(size);
    },
  };
};
