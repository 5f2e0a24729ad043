// What a program prints, on its way to the person: each byte once, as fast as it is taken, and nothing of it may reach the
// clipboard, ask questions when it is shown again, or leave the terminal otherwise than it was.

import { asksTerminal, createTerminalFilter, setsClipboard, touchesClipboard, type Sequence } from '../../terminal-filter.ts';
import type { CommandContext } from '../command.ts';
import { watchModes } from './terminal-modes.ts';

/** After so many bytes the node is told how far they were taken. */
const TOLD_BYTES = 128 * 1024;

export type Offsets = { stdout: number; stderr: number };

export type Shown = {
  /** How far output was received. */
  readonly at: Offsets;
  /** Output below it was there before: it is shown again. */
  replayUntil(offset: number): void;
  show(stream: 'stdout' | 'stderr', offset: number, bytes: Uint8Array): void;
  /** Output goes on at an offset; so many bytes of a screen come first. */
  skip(stream: 'stdout' | 'stderr', next: { readonly offset: number; readonly screenBytes: number }): void;
  screen(bytes: Uint8Array): void;
  /** A line for the person, on the last row of the terminal or on standard error. */
  notice(text: string): void;
  /** Resolves when everything was taken and the terminal is as it was before. */
  finish(): Promise<void>;
};

/**
 * Makes it. `onSeen` is told how far output was taken. `clipboard`: the person permits programs to set it; not what is shown
 * again, and never to read it.
 */
export const createShown = (
  context: CommandContext,
  given: {
    readonly tty: boolean;
    readonly clipboard: boolean;
    readonly onSeen: (at: Offsets) => void;
    readonly onFault: (thrown: unknown) => void;
  },
): Shown => {
  const { world } = context;
  const drawn = given.tty && world.stdout.isTTY;
  const modes = watchModes();
  const at = { stdout: 0, stderr: 0 };
  const taken = { stdout: 0, stderr: 0 };
  let told = 0;
  let again = 0;
  let replaying = false;
  let screenBytes = 0;
  let output: Promise<void> = Promise.resolve();

  const filter = createTerminalFilter((sequence: Sequence) => {
    modes.see(sequence);
    if (touchesClipboard(sequence)) return !given.clipboard || replaying || !setsClipboard(sequence);
    return replaying && asksTerminal(sequence);
  });
  const write = (stream: 'stdout' | 'stderr', bytes: Uint8Array, then: () => void = () => undefined): void => {
    output = output
      .then(() => world[stream].bytes(bytes))
      .then(then)
      .catch(given.onFault);
  };
  const draw = (bytes: Uint8Array, isReplay: boolean): Uint8Array => {
    if (!drawn) return bytes;
    replaying = isReplay;
    return filter.push(bytes);
  };
  const sawUntil = (stream: 'stdout' | 'stderr', offset: number) => (): void => {
    taken[stream] = offset;
    if (taken.stdout + taken.stderr - told < TOLD_BYTES) return;
    told = taken.stdout + taken.stderr;
    given.onSeen({ ...taken });
  };
  const put = (stream: 'stdout' | 'stderr', offset: number, fresh: Uint8Array): void => {
    const old = Math.max(0, Math.min(fresh.length, again - offset));
    for (const [part, isReplay] of [
      [fresh.subarray(0, old), true],
      [fresh.subarray(old), false],
    ] as const)
      if (part.length > 0) write(stream, stream === 'stdout' ? draw(part, isReplay) : part);
    write(stream, new Uint8Array(), sawUntil(stream, offset + fresh.length));
  };

  return {
    at,
    replayUntil: (offset) => {
      again = offset;
    },
    show(stream, offset, bytes) {
      // What came before the connection broke may come again.
      const had = Math.max(0, at[stream] - offset);
      const fresh = bytes.subarray(had);
      if (fresh.length === 0) return;
      at[stream] = offset + bytes.length;
      put(stream, offset + had, fresh);
    },
    skip(stream, next) {
      at[stream] = next.offset;
      ({ screenBytes } = next);
      if (screenBytes > 0 && drawn) write('stdout', Buffer.from(`${modes.undo()}\u001b[0m\u001b[H\u001b[2J`));
    },
    screen(bytes) {
      screenBytes -= bytes.length;
      if (drawn) write('stdout', draw(bytes, true));
    },
    notice(text) {
      if (!drawn) return context.warn(text);
      const line = ` orrery: ${text} `.slice(0, world.stdout.columns);
      write('stdout', Buffer.from(`\u001b7\u001b[${world.stdout.rows};1H\u001b[0;7m${line}\u001b[0m\u001b[K\u001b8`));
    },
    finish: async () => {
      if (drawn) write('stdout', Buffer.concat([filter.flush(), Buffer.from(modes.undo())]));
      await output;
    },
  };
};
