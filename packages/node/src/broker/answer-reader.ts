// Reads usage and the fate of an answer from a copy of its bytes, on the four wires, streamed or whole. Never throws and
// never holds the answer up.

import { createLineSplitter, type Line } from '../harness/lines.ts';
import { failureOf, readErrorBody } from '../harness/failure.ts';
import { countsOf, parseObject, readFrame, type FrameError, type PartialCounts } from './answer-frames.ts';
import { ERROR_BODY_BYTES, STREAM_LINE_BYTES, WHOLE_ANSWER_BYTES } from './limits.ts';
import type { TokenCounts, WireName } from './model.ts';

/** What an answer said about itself. */
export type AnswerFacts = {
  /** null: the answer did not say. */
  readonly tokens: TokenCounts | null;
  /** The model that answered, if it said so. */
  readonly model: string | null;
  readonly failure: FrameError;
  /** The answer came to its own end. */
  readonly whole: boolean;
};

export type AnswerReader = {
  push(bytes: Uint8Array): void;
  /** The bytes are over, or were cut. */
  end(): AnswerFacts;
};

export type AnswerHead = {
  readonly wire: WireName;
  readonly status: number;
  readonly contentType: string;
  readonly encoded: boolean;
};

/** Makes the reader for an answer by its head. */
export const createAnswerReader = (head: AnswerHead): AnswerReader => {
  if (head.encoded) return { push: () => undefined, end: () => ({ tokens: null, model: null, failure: null, whole: true }) };
  if (head.status >= 400) return createErrorReader(head.status);
  return head.contentType.startsWith('text/event-stream') ? createStreamReader(head.wire) : createWholeReader(head.wire);
};

const collect = (limit: number) => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(part: Uint8Array): void {
      if (bytes < limit) parts.push(part);
      bytes += part.length;
    },
    /** null: there was more than the limit. */
    text: (): string | null => (bytes > limit ? null : Buffer.concat(parts).toString('utf8')),
    head: (): string => Buffer.concat(parts).subarray(0, limit).toString('utf8'),
  };
};

const createErrorReader = (status: number): AnswerReader => {
  const body = collect(ERROR_BODY_BYTES);
  return {
    push: body.push,
    end() {
      const { codes, message, resetsAt, waitMs } = readErrorBody(body.head());
      return {
        tokens: null,
        model: null,
        failure: { failure: failureOf({ status, codes, message }), message, resetsAt, waitMs },
        whole: true,
      };
    },
  };
};

const malformed = {
  failure: 'protocol',
  message: 'The provider answered with something that is not an answer.',
  resetsAt: null,
} as const;

const createWholeReader = (wire: WireName): AnswerReader => {
  const body = collect(WHOLE_ANSWER_BYTES);
  return {
    push: body.push,
    end() {
      const text = body.text();
      if (text === null) return { tokens: null, model: null, failure: null, whole: true };
      const value = parseObject(text);
      if (value === null) return { tokens: null, model: null, failure: malformed, whole: false };
      const seen = readFrame(wire, value);
      return { tokens: seen.tokens === null ? null : countsOf(seen.tokens), model: seen.model, failure: seen.error, whole: true };
    },
  };
};

/** Events that may carry usage, the end or an error; the many others are not parsed. */
const TELLING =
  /"usage|"error"|message_start|message_delta|message_stop|"response\.(completed|incomplete|failed|created)|"finish_?[rR]eason"\s*:\s*"/;

const createStreamReader = (wire: WireName): AnswerReader => {
  const splitter = createLineSplitter({ maxLineBytes: STREAM_LINE_BYTES, offset: 0, skipped: 0 });
  let tokens: PartialCounts | null = null;
  let model: string | null = null;
  let failure: FrameError = null;
  let events = 0;
  let whole = false;

  const read = (line: Line): void => {
    if (line.kind !== 'line' || !line.text.startsWith('data:')) return;
    const payload = line.text.slice('data:'.length).trim();
    if (payload === '[DONE]') return void (whole = true);
    if (events > 0 && !TELLING.test(payload)) return;
    const value = parseObject(payload);
    if (value === null) return;
    events += 1;
    const seen = readFrame(wire, value);
    // Later counts stand for the whole answer so far; parts they leave out keep what was said before.
    if (seen.tokens !== null) tokens = { ...tokens, ...defined(seen.tokens) };
    model = seen.model ?? model;
    whole ||= seen.last;
    if (seen.error !== null) failure = seen.error;
  };

  return {
    push: (bytes) => splitter.push(bytes).forEach(read),
    end() {
      const rest = splitter.rest();
      if (rest !== null) read(rest);
      return {
        tokens: tokens === null ? null : countsOf(tokens),
        model,
        failure: failure ?? (events === 0 ? malformed : null),
        whole,
      };
    },
  };
};

const defined = (counts: PartialCounts): PartialCounts =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined));
