// What an agent asks before it acts, and what it is answered.

import type { InteractionAsk, InteractionOutcome } from '@orrery/protocol';
import { asText, clip } from '../clip.ts';
import { cannotBeTold, type SessionCommand } from '../dialogue.ts';
import { INLINE_TEXT_BYTES } from '../limits.ts';
import { notAllowed } from '../not-allowed.ts';
import { commandOf, contentText, inputText, isObject, pathsOf } from './content.ts';
import { without, type OpenCall, type State, type Step } from './state.ts';
import type { ToolCall } from './wire.ts';

type Options = State['asks'][string]['options'];

/** Reasons that wait to be told; the protocol's answers have no room for them. */
const MAX_NOTES = 10;

/** The choice of the agent for an outcome, best first; none: it has no such choice. */
const KINDS: Readonly<Partial<Record<InteractionOutcome, readonly string[]>>> = {
  approved: ['allow_once'],
  'approved-for-session': ['allow_always'],
  denied: ['reject_once', 'reject_always'],
  'timed-out': ['reject_once'],
};

const optionFor = (options: Options, outcome: InteractionOutcome): string | null => {
  for (const kind of KINDS[outcome] ?? []) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return found.optionId;
  }
  return null;
};

/** The question in our words, with the exact command or change. `known`: what it told of that call before. */
export const askOf = (call: ToolCall, { options, known }: { options: Options; known: OpenCall | null }): InteractionAsk => {
  const outcomes = (['approved', 'approved-for-session'] as const).filter((outcome) => optionFor(options, outcome) !== null);
  const paths = [...new Set([...pathsOf(call), ...(known?.paths ?? [])])];
  const command = commandOf(call);
  const title = call.title ?? known?.tool ?? 'Use a tool';
  const common = {
    tool: known?.tool ?? call.name ?? call.kind ?? null,
    title,
    command: null,
    paths,
    detail: clip(detailOf(call, known), INLINE_TEXT_BYTES),
    questions: [],
    outcomes: [...outcomes, 'denied'],
  } satisfies Partial<InteractionAsk>;
  if (command !== null) return { ...common, kind: 'command', command, paths: [] };
  switch (call.kind) {
    case 'edit':
    case 'delete':
    case 'move':
      return { ...common, kind: 'edit' };
    case 'switch_mode':
      return { ...common, kind: 'plan' };
    default:
      return { ...common, kind: 'tool' };
  }
};

const detailOf = (call: ToolCall, known: OpenCall | null): string => {
  const shown = contentText(call.content);
  const input = isObject(call.rawInput) && Object.keys(call.rawInput).length > 0 ? asText(call.rawInput) : null;
  if (shown === null) return input ?? known?.input ?? inputText(call);
  return input === null ? shown : `${shown}\n\n${input}`;
};

/** The agent's form of an outcome: a choice of its own, or that there is no answer any more. */
const answerTo = (open: State['asks'][string], outcome: InteractionOutcome): object => {
  const optionId = optionFor(open.options, outcome);
  const chosen = optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
  return { jsonrpc: '2.0', id: open.id, result: { outcome: chosen } };
};

/** Says the answer of a person, or of a mode. */
export const answer = (now: State, given: Extract<SessionCommand, { kind: 'answer' }>, program: string): Step => {
  const { key, outcome } = given;
  const open = now.asks[key];
  if (open === undefined) throw cannotBeTold(program, 'be answered what it does not ask');
  const note = notAllowed(open.what, given);
  const notes = note === null ? now.notes : [...now.notes, note].slice(-MAX_NOTES);
  return { state: { ...now, notes, asks: without(now.asks, key) }, say: [{ value: answerTo(open, outcome) }] };
};

/** Everything that is open has no answer any more. */
export const withdrawAll = (now: State): Step => ({
  state: { ...now, asks: {} },
  facts: Object.keys(now.asks).map((key) => ({ kind: 'withdrawn', key })),
  say: Object.values(now.asks).map((open) => ({ value: answerTo(open, 'withdrawn') })),
});

/** It takes a question back. */
export const withdraw = (now: State, key: string): Step => {
  const open = now.asks[key];
  if (open === undefined) return { state: now };
  const error = { code: -32_800, message: 'Cancelled.' };
  return {
    state: { ...now, asks: without(now.asks, key) },
    facts: [{ kind: 'withdrawn', key }],
    say: [{ value: { jsonrpc: '2.0', id: open.id, error } }],
  };
};
