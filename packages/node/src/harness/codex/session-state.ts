import { turnAction } from '@orrery/protocol';
import { z } from 'zod';
import type { Spoken } from '../dialogue.ts';
import { reported } from '../reported.ts';

/** What is remembered of a process. */
export const state = z.object({
  thread: z.string().nullable(),
  /** What a new thread is begun with, when the one to resume is not there. */
  start: z.record(z.string(), z.unknown()),
  turn: z.int().nullable(),
  turnId: z.string().nullable(),
  /** The turn that it last said to have begun: before that word it refuses to stop one, also one that it named. */
  begun: z.string().nullable().default(null),
  /** A stop came before the turn could be stopped. */
  stop: z.boolean(),
  requests: z.int(),
  steers: z.array(z.object({ key: z.string(), text: z.string() })),
  asks: z.record(
    z.string(),
    z.object({ id: z.union([z.number(), z.string()]), method: z.string(), what: z.string().default('') }),
  ),
  /** Changes of files that began and may be asked for. */
  changes: z.array(z.object({ id: z.string(), paths: z.array(z.string()), text: z.string() })),
  usage: z.object({ input: z.int(), output: z.int(), cached: z.int() }),
  failure: reported,
  /** Sums of the thread as it told them last; null: not in this process. */
  total: z.object({ input: z.int(), output: z.int(), cached: z.int() }).nullable().default(null),
  context: z.object({ usedTokens: z.int(), windowTokens: z.int().nullable() }).nullable().default(null),
  /** What its turn is for. */
  action: turnAction.default('say'),
  /** Model and effort that were changed in this process, and whether a turn was begun with them. */
  thinking: z.object({ model: z.string().nullable(), effort: z.string().nullable(), told: z.boolean() }).nullable().default(null),
  compacting: z.object({ beforeTokens: z.int().nullable() }).nullable().default(null),
  /** Threads of sub-agents, with what each was asked for. */
  agents: z.record(z.string(), z.string()).default({}),
});
export type State = z.output<typeof state>;

/** Before the first model call of a turn. */
export const noUsage: State['usage'] = { input: 0, output: 0, cached: 0 };

/** Without one of them. */
export const without = (asks: State['asks'], key: string): State['asks'] =>
  Object.fromEntries(Object.entries(asks).filter(([name]) => name !== key));

/** What a process that has told nothing yet is taken to hold beside its turns. */
export const nothingTold = {
  total: null,
  context: null,
  action: 'say',
  compacting: null,
  thinking: null,
  agents: {},
  begun: null,
} satisfies Partial<State>;

/** Asks it to stop the turn that it named. */
export const interrupt = (now: State): Spoken<State> => {
  const requests = now.requests + 1;
  const params = { threadId: now.thread, turnId: now.turnId };
  return {
    state: { ...now, requests, stop: false },
    say: [{ value: { id: `interrupt:${requests}`, method: 'turn/interrupt', params } }],
  };
};
