import type { TerminalView } from '@orrery/protocol';
import type { RunEnd } from '../exec/backend.ts';
import { toInstant } from '../kernel/clock.ts';

/** What is known of a program that people look at. */
export type Seen = {
  readonly id: string;
  readonly environmentId: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly end: RunEnd | null;
  readonly lost: boolean;
  readonly viewers: number;
  readonly startedAtMs: number;
};

/** It as clients see it. */
export const terminalView = ({ id, environmentId, command, tty, end, lost, viewers, startedAtMs }: Seen): TerminalView => ({
  id,
  environmentId,
  command: [...command],
  tty,
  state: end !== null ? 'ended' : lost ? 'lost' : 'running',
  exitCode: end?.exitCode ?? null,
  signal: end?.signal ?? null,
  reason: end?.limit ?? end?.reason ?? null,
  viewers,
  startedAt: toInstant(startedAtMs),
});

/** Tells one program's frames from another's under the same name: the second in which it began. */
export const generationOf = (startedAtMs: number): number => Math.floor(startedAtMs / 1000) % 0x1_0000_0000;
