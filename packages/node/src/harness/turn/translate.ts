// The lines of a turn program as events. Pure: state in, state and events out.

import { createHash } from 'node:crypto';
import { harnessTurnLine, harnessTurnPart, type ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { asText, byteLength, clip } from '../clip.ts';
import { INLINE_BODY_BYTES, INLINE_TEXT_BYTES } from '../limits.ts';
import { reported } from '../reported.ts';
import type { Dialect, Step } from '../translator.ts';

/** What is remembered between the lines of a turn. */
export const turnState = z.object({
  /** The conversation of the turn. */
  session: z.string(),
  /** Before the names of rows, where they must not be those of an earlier turn. */
  prefix: z.string(),
  rows: z.int(),
  /** Digest of the newest text, so that a result which says the same is not shown twice. */
  text: z.string().nullable(),
  accepted: z.boolean(),
  reported,
});
export type TurnState = z.output<typeof turnState>;

/** Before its first line. */
export const freshTurn = (session: string, prefix = ''): TurnState => ({
  session,
  prefix,
  rows: 0,
  text: null,
  accepted: false,
  reported: null,
});

/** The dialect of a program that is started for each turn. */
export const turnDialect = (program: string): Dialect<TurnState> => ({
  program,
  schema: turnState,
  initial: freshTurn(''),
  frame: (before, value) => {
    const now = { ...before, accepted: true };
    const { data } = harnessTurnLine.safeParse(value);
    if (data === undefined) return { state: now, events: [], drift: `line ${asText(value['type'])}`.slice(0, 80) };
    switch (data.type) {
      case 'message':
        return onMessage(now, data.message);
      case 'usage':
        return { state: now, events: [usageOf(data.models)] };
      case 'result':
        return onResult(now, data.text);
      case 'error':
        return { state: { ...now, reported: failure(now, data.message) }, events: [] };
    }
  },
  facts: ({ session, accepted, reported: word }) => ({
    // Only a turn that ended well is gone on with.
    conversation: word?.kind === 'success' ? session : null,
    settled: word !== null,
    accepted,
    reported: word,
  }),
});

/** A turn with a result succeeded, whatever was said before. */
const failure = ({ reported: word }: TurnState, message: string): TurnState['reported'] =>
  word?.kind === 'success' ? word : { kind: 'failure', failure: 'program', message, resetsAt: null };

type Models = Extract<z.output<typeof harnessTurnLine>, { type: 'usage' }>['models'];

const usageOf = (models: Models): ConversationBody => {
  const sum = (pick: (model: Models[number]) => number | undefined): number =>
    models.reduce((total, model) => Math.min(Number.MAX_SAFE_INTEGER, total + (pick(model) ?? 0)), 0);
  return {
    kind: 'usage',
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
  };
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const onResult = (now: TurnState, text: string): Step<TurnState> => {
  const state: TurnState = { ...now, reported: { kind: 'success' } };
  if (text === '' || digest(text) === now.text) return { state, events: [] };
  return addText(state, { kind: 'text', text });
};

const addText = (
  now: TurnState,
  { kind, text }: { readonly kind: 'text' | 'thinking'; readonly text: string },
): Step<TurnState> => {
  const rows = now.rows + 1;
  return {
    state: { ...now, rows, text: kind === 'text' ? digest(text) : now.text },
    events: [{ kind, row: `${now.prefix}message-${rows}`, text: clip(text, INLINE_TEXT_BYTES) }],
  };
};

const onMessage = (
  before: TurnState,
  { role, parts }: { readonly role: 'ROLE_AGENT' | 'ROLE_USER'; readonly parts: readonly unknown[] },
): Step<TurnState> => {
  let state = before;
  let drift: string | undefined;
  const events: ConversationBody[] = [];
  for (const part of parts) {
    const step = onPart(state, { role, part });
    state = step.state;
    drift ??= step.drift;
    events.push(...step.events);
  }
  return { state, events, ...(drift === undefined ? {} : { drift }) };
};

const onPart = (
  now: TurnState,
  { role, part }: { readonly role: 'ROLE_AGENT' | 'ROLE_USER'; readonly part: unknown },
): Step<TurnState> => {
  const { data } = harnessTurnPart.safeParse(part);
  if (data === undefined) return { state: now, events: [], drift: 'part of another shape' };
  switch (data.type) {
    case 'toolCall':
      return {
        state: now,
        events: [
          {
            kind: 'tool.call',
            row: `${now.prefix}${data.id}`,
            tool: data.name,
            input: clip(asText(data.input), INLINE_BODY_BYTES),
          },
        ],
      };
    case 'toolResult':
      return { state: now, events: [resultOf(now, data)] };
    case 'thinking':
      return addText(now, { kind: 'thinking', text: data.text });
    case 'text':
    case undefined:
      // The prompt is in the log already; what a program repeats of it is not said twice.
      return role === 'ROLE_USER' ? { state: now, events: [] } : addText(now, { kind: 'text', text: data.text });
  }
};

const resultOf = (
  { prefix }: TurnState,
  { callId, name, text, isError }: Extract<z.output<typeof harnessTurnPart>, { type: 'toolResult' }>,
): ConversationBody => ({
  kind: 'tool.result',
  row: `${prefix}${callId}`,
  tool: name ?? null,
  output: clip(text, INLINE_BODY_BYTES),
  outputBytes: byteLength(text),
  failed: isError ?? false,
});
