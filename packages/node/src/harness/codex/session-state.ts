import { z } from 'zod';
import { reported } from '../reported.ts';

/** What is remembered of a process. */
export const state = z.object({
  thread: z.string().nullable(),
  /** What a new thread is begun with, when the one to resume is not there. */
  start: z.record(z.string(), z.unknown()),
  turn: z.int().nullable(),
  turnId: z.string().nullable(),
  /** A stop came before the program named the turn. */
  stop: z.boolean(),
  requests: z.int(),
  steers: z.array(z.object({ key: z.string(), text: z.string() })),
  asks: z.record(z.string(), z.object({ id: z.union([z.number(), z.string()]), method: z.string() })),
  /** Changes of files that began and may be asked for. */
  changes: z.array(z.object({ id: z.string(), paths: z.array(z.string()), text: z.string() })),
  usage: z.object({ input: z.int(), output: z.int(), cached: z.int() }),
  failure: reported,
});
export type State = z.output<typeof state>;

/** Before the first model call of a turn. */
export const noUsage: State['usage'] = { input: 0, output: 0, cached: 0 };

/** Without one of them. */
export const without = (asks: State['asks'], key: string): State['asks'] =>
  Object.fromEntries(Object.entries(asks).filter(([name]) => name !== key));
