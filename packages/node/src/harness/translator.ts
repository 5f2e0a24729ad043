// Glossary. A dialect is one program's frames; drift is a frame the adapter does not know. This file turns bytes into
// frames and keeps what every adapter must: noise becomes the program's log, drift is counted, nothing throws.

import type { ConversationBody } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { inlineBody } from './clip.ts';
import { countDrift, noticeOf, parseFrame } from './frames.ts';
import type { Translated, Translator, TranslatorState } from './harness.ts';
import { MAX_LINE_BYTES, MAX_LOG_NOTICES } from './limits.ts';
import { createLineSplitter, type Line } from './lines.ts';
import { settleOutcome } from './outcome.ts';
import type { Reported } from './reported.ts';

/** What a frame does: events to append and the state after it. `drift` names a frame nobody knows. */
export type Step<State> = { readonly state: State; readonly events: readonly ConversationBody[]; readonly drift?: string };

/** What the frames so far say about the turn. */
export type TurnFacts = {
  readonly conversation: string | null;
  readonly settled: boolean;
  readonly accepted: boolean;
  readonly reported: Reported;
};

/** One program's frames, as pure functions of plain JSON states. */
export type Dialect<State> = {
  /** The program's name for people. */
  readonly program: string;
  readonly schema: z.ZodType<State>;
  readonly initial: State;
  frame(state: State, value: Readonly<Record<string, unknown>>): Step<State>;
  facts(state: State): TurnFacts;
};

const kept = z.object({
  skipped: z.int(),
  log: z.int(),
  drift: z.record(z.string(), z.int()),
  dialect: z.unknown(),
});
type Kept<State> = { skipped: number; log: number; drift: Readonly<Record<string, number>>; dialect: State };

const restore = <State>(dialect: Dialect<State>, stored: TranslatorState): Kept<State> => {
  if (Object.keys(stored).length === 0) return { skipped: 0, log: 0, drift: {}, dialect: dialect.initial };
  const outer = kept.safeParse(stored);
  const inner = dialect.schema.safeParse(outer.data?.dialect);
  if (outer.success && inner.success) return { ...outer.data, dialect: inner.data };
  throw new OrreryError('store_damaged', `The stored reading position of a ${dialect.program} turn is not readable.`, {
    rule: 'Reading continues only from a state this version wrote.',
    fix: 'Run the task again: orrery task retry TASK',
  });
};

/** Makes a translator for one turn of a program that writes a JSON object per line. */
export const createTranslator = <State>(
  dialect: Dialect<State>,
  from: { readonly offset: number; readonly state: TranslatorState },
): Translator => {
  let now = restore(dialect, from.state);
  const splitter = createLineSplitter({ maxLineBytes: MAX_LINE_BYTES, offset: from.offset, skipped: now.skipped });

  const read = (line: Line): readonly ConversationBody[] => {
    const { next, events } = readLine(dialect, now, line);
    now = next;
    return events;
  };
  const answer = (events: readonly ConversationBody[]): Translated => {
    const { conversation, settled, accepted } = dialect.facts(now.dialect);
    const inline = events.map(inlineBody);
    return {
      events: inline,
      offset: splitter.offset(),
      state: { ...now, skipped: splitter.skipped() },
      conversation,
      settled,
      accepted,
    };
  };

  return {
    push: (bytes) => answer(splitter.push(bytes).flatMap(read)),
    end(end) {
      const rest = splitter.rest();
      const events = [...(rest === null ? [] : read(rest)), ...closingNotices(dialect.program, now)];
      return {
        events: events.map(inlineBody),
        outcome: settleOutcome(dialect.facts(now.dialect).reported, end, dialect.program),
      };
    },
  };
};

type Read<State> = { readonly next: Kept<State>; readonly events: readonly ConversationBody[] };

const readLine = <State>(dialect: Dialect<State>, now: Kept<State>, line: Line): Read<State> => {
  if (line.kind === 'too-long') {
    return {
      next: now,
      events: [
        noticeOf(
          'warning',
          `${dialect.program} wrote a line of ${line.bytes} bytes; lines above ${MAX_LINE_BYTES} bytes are skipped.`,
        ),
      ],
    };
  }
  if (line.text.trim() === '') return { next: now, events: [] };
  const frame = parseFrame(line.text);
  if (frame === null) return readLog(dialect.program, now, line.text);
  const { state, events, drift } = dialect.frame(now.dialect, frame);
  const next = { ...now, dialect: state };
  if (drift === undefined) return { next, events };
  const counted = countDrift(now.drift, { program: dialect.program, name: drift });
  return { next: { ...next, drift: counted.drift }, events: [...events, ...counted.events] };
};

/** A line that is not a JSON object is the program's log. */
const readLog = <State>(program: string, now: Kept<State>, text: string): Read<State> => ({
  next: { ...now, log: now.log + 1 },
  events: now.log < MAX_LOG_NOTICES ? [noticeOf('info', `${program}: ${text}`)] : [],
});

const closingNotices = <State>(program: string, { log, drift }: Kept<State>): readonly ConversationBody[] => {
  const repeated = Object.entries(drift).filter(([name, count]) => count > 1 || name === 'others');
  return [
    ...(log > MAX_LOG_NOTICES ? [noticeOf('info', `${program} wrote ${log - MAX_LOG_NOTICES} more lines to its log.`)] : []),
    ...(repeated.length > 0
      ? [noticeOf('info', `Unknown to this adapter: ${repeated.map(([name, count]) => `${name} (${count} times)`).join(', ')}.`)]
      : []),
  ];
};
