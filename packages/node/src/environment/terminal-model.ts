// Glossary. A terminal is one program that people look at; a viewer is one of them; its seat is what the terminal knows of it.

import type { TerminalFrame } from '@orrery/protocol';
import type { TerminalStream } from '@orrery/protocol/terminal-frames';
import type { Handle, RunEnd } from '../exec/backend.ts';
import type { OutputStream } from '../keeper/types.ts';
import type { ScreenFile } from './screen-file.ts';
import type { ScreensThread } from './screens-thread.ts';
import type { TerminalSize, ViewerSize } from './terminal-size.ts';

/** How a viewer is told things. `bytes` resolves when there is room for more, and rejects when the viewer is gone. */
export type ViewerDoor = {
  control(frame: TerminalFrame): void;
  bytes(stream: Exclude<TerminalStream, 'stdin'>, offset: number, bytes: Uint8Array): Promise<void>;
  /** Ends the connection of a viewer that takes its output too slowly, with the offset it would go on from. */
  cut(stream: OutputStream, offset: number): void;
};

/** Where a viewer's replay begins. */
export type ViewerStart = {
  /** Identifies its input; the same again after a broken connection: nothing is written twice. */
  readonly viewer: string;
  readonly stdout: number;
  readonly stderr: number;
  readonly size: ViewerSize;
};

/** A viewer at its place. */
export type Seat = {
  readonly door: ViewerDoor;
  size: ViewerSize;
  gone: boolean;
  /** Of stdout: the first byte that it was not given yet. */
  at: number;
  /** All of it was shown, or cannot be. */
  followed: Promise<void>;
};

/** What a hub is made of. */
export type TerminalGiven = {
  readonly id: string;
  readonly handle: Handle;
  readonly tty: boolean;
  readonly generation: number;
  /** Its size, when nothing else is remembered. */
  readonly size: TerminalSize;
  readonly file: ScreenFile;
  readonly screens: ScreensThread;
  /** Output from there on somebody else still needs; nothing of it is given up. */
  readonly needed?: () => number;
  /** The one who writes wrote something. */
  readonly onInput?: () => void;
  readonly onEnd: (end: RunEnd) => void;
};

/** The end as viewers are told it. */
export const exitFrame = ({ exitCode, signal, limit, reason }: RunEnd): TerminalFrame => ({
  type: 'exit',
  exitCode,
  signal,
  limit,
  reason,
});
