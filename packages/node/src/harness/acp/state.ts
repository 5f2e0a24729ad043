import { z } from 'zod';
import { permissionMode } from '@orrery/protocol';
import type { Spoken } from '../dialogue.ts';
import { requestId } from './wire.ts';

const counts = z.object({ input: z.int(), output: z.int(), cached: z.int() });

/** A call of a tool that is not over. */
const openCall = z.object({
  tool: z.string(),
  /** What it is given, as the log has it, and whether the log has it. */
  input: z.string(),
  told: z.boolean(),
  output: z.string(),
  outputBytes: z.int(),
  paths: z.array(z.string()),
});
export type OpenCall = z.output<typeof openCall>;

/** What is remembered of a process. */
export const state = z.object({
  start: z.object({
    cwd: z.string(),
    model: z.string().nullable(),
    effort: z.string().nullable(),
    mode: permissionMode,
    conversation: z.string().nullable(),
  }),
  session: z.string().nullable(),
  /** It was told to go on with a conversation: what it tells before the first prompt is not new. */
  resumed: z.boolean(),
  ready: z.boolean(),
  /** How it can go on with a conversation. */
  goesOn: z.enum(['load', 'resume']).nullable(),
  /** Ways to log in that it offers and that were not tried. */
  logins: z.array(z.string()),
  requests: z.int(),
  /** Requests of ours without an answer, by id. */
  pending: z.record(z.string(), z.enum(['initialize', 'login', 'open', 'setting', 'prompt'])),
  /** Its own names of modes. */
  modes: z.array(z.string()),
  /** The name of the option that holds the mode, where it is one. */
  modeOption: z.string().nullable(),
  mode: z.string().nullable(),
  turn: z.int().nullable(),
  /** The last turn that was begun; 0: none. */
  last: z.int(),
  accepted: z.boolean(),
  /** The turn was told to stop. */
  stopped: z.boolean().default(false),
  /** What was not allowed and why: told with the next words. */
  notes: z.array(z.string()).default([]),
  /** Rows of text so far in the turn: names them. */
  rows: z.int(),
  text: z.object({ kind: z.enum(['text', 'thinking']), text: z.string(), bytes: z.int() }).nullable(),
  calls: z.record(z.string(), openCall),
  asks: z.record(
    z.string(),
    z.object({
      id: requestId,
      options: z.array(z.object({ optionId: z.string(), kind: z.string() })),
      what: z.string().default(''),
    }),
  ),
  usage: counts,
  /** Tokens of the whole conversation at the end of the last turn, of a program that counts so. */
  counted: counts,
});
export type State = z.output<typeof state>;

/** What a step of this dialect gives. */
export type Step = Spoken<State>;

export const noTokens = { input: 0, output: 0, cached: 0 };

/** Without one of its entries. */
export const without = <Value>(record: Readonly<Record<string, Value>>, key: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));

/** Both steps, one after the other, with the state of the second. */
export const joined = (first: Omit<Step, 'state'>, second: Step): Step => {
  const drift = first.drift ?? second.drift;
  return {
    state: second.state,
    events: [...(first.events ?? []), ...(second.events ?? [])],
    facts: [...(first.facts ?? []), ...(second.facts ?? [])],
    say: [...(first.say ?? []), ...(second.say ?? [])],
    live: [...(first.live ?? []), ...(second.live ?? [])],
    ...(drift === undefined ? {} : { drift }),
  };
};

/** Says a request, and remembers for what. */
export const request = (
  now: State,
  asked: {
    readonly purpose: State['pending'][string];
    readonly method: string;
    readonly params: object;
    readonly prompt?: number;
  },
): Step => {
  const { purpose, method, params, prompt } = asked;
  const id = now.requests;
  const value = { jsonrpc: '2.0', id, method, params };
  return {
    state: { ...now, requests: id + 1, pending: { ...now.pending, [id]: purpose } },
    say: [prompt === undefined ? { value } : { value, prompt }],
  };
};
