// Reads usage and the fate of an answer from a copy of its bytes, on the four wires, streamed or whole. Never throws and
// never holds the answer up.

import { z } from 'zod';
import { createLineSplitter, type Line } from '../harness/lines.ts';
import { failureOf, readErrorBody } from '../harness/failure.ts';
import type { TurnFailure } from '../harness/harness.ts';
import { ERROR_BODY_BYTES, STREAM_LINE_BYTES, WHOLE_ANSWER_BYTES } from './limits.ts';
import type { TokenCounts, WireName } from './model.ts';

/** What an answer said about itself. */
export type AnswerFacts = {
  /** null: the answer did not say. */
  readonly tokens: TokenCounts | null;
  /** The model that answered, if it said so. */
  readonly model: string | null;
  readonly failure: { readonly failure: TurnFailure | null; readonly message: string; readonly resetsAt: string | null } | null;
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
      const { codes, message, resetsAt } = readErrorBody(body.head());
      return {
        tokens: null,
        model: null,
        failure: { failure: failureOf({ status, codes, message }), message, resetsAt },
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
      const value = parse(text);
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
  let failure: AnswerFacts['failure'] = null;
  let events = 0;
  let whole = false;

  const read = (line: Line): void => {
    if (line.kind !== 'line' || !line.text.startsWith('data:')) return;
    const payload = line.text.slice('data:'.length).trim();
    if (payload === '[DONE]') return void (whole = true);
    if (events > 0 && !TELLING.test(payload)) return;
    const value = parse(payload);
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

type JsonObject = Readonly<Record<string, unknown>>;
type PartialCounts = {
  input?: number;
  output?: number;
  cached?: number;
  cacheWrite?: number;
  reasoning?: number;
  cachedIsApart?: boolean;
};
type Seen = {
  readonly tokens: PartialCounts | null;
  readonly model: string | null;
  readonly last: boolean;
  readonly error: AnswerFacts['failure'];
};

const defined = (counts: PartialCounts): PartialCounts =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined));

const countsOf = ({
  input = 0,
  output = 0,
  cached = 0,
  cacheWrite = 0,
  reasoning = 0,
  cachedIsApart = false,
}: PartialCounts): TokenCounts => ({
  inputTokens: cachedIsApart ? input + cached + cacheWrite : input,
  outputTokens: output,
  cachedTokens: cached,
  cacheWriteTokens: cacheWrite,
  reasoningTokens: reasoning,
});

const count = z.int().min(0).max(1e12).optional().catch(undefined);
const text = z.string().max(500).optional().catch(undefined);

const anthropicUsage = z
  .object({ input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count })
  .optional()
  .catch(undefined);
const anthropicFrame = z.object({
  type: text,
  model: text,
  usage: anthropicUsage,
  message: z.object({ model: text, usage: anthropicUsage }).optional().catch(undefined),
});

const responsesBody = z
  .object({
    model: text,
    usage: z
      .object({
        input_tokens: count,
        output_tokens: count,
        input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).optional().catch(undefined),
        output_tokens_details: z.object({ reasoning_tokens: count }).optional().catch(undefined),
      })
      .nullish()
      .catch(undefined),
  })
  .optional()
  .catch(undefined);
const responsesFrame = z.object({ type: text, response: responsesBody });

const chatFrame = z.object({
  model: text,
  choices: z.array(z.object({ finish_reason: z.string().nullish() })).catch([]),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

const geminiFrame = z.object({
  modelVersion: text,
  candidates: z.array(z.object({ finishReason: z.string().nullish() })).catch([]),
  usageMetadata: z
    .object({ promptTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count, cachedContentTokenCount: count })
    .optional()
    .catch(undefined),
});

const readFrame = (wire: WireName, value: JsonObject): Seen => {
  const seen = READERS[wire](value);
  return { ...seen, error: errorIn(value) };
};

const READERS: Readonly<Record<WireName, (value: JsonObject) => Omit<Seen, 'error'>>> = {
  anthropic(value) {
    const { data } = anthropicFrame.safeParse(value);
    const usage = data?.usage ?? data?.message?.usage;
    return {
      tokens: usage === undefined ? null : fromAnthropic(usage),
      model: data?.model ?? data?.message?.model ?? null,
      last: data?.type === 'message_stop',
    };
  },
  responses(value) {
    const { data } = responsesFrame.safeParse(value);
    // A whole answer is the response itself, an event carries it.
    const response = data?.response ?? responsesBody.safeParse(value).data;
    const usage = response?.usage;
    const tokens =
      usage === undefined || usage === null
        ? null
        : {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.input_tokens_details?.cached_tokens,
            cacheWrite: usage.input_tokens_details?.cache_write_tokens,
            reasoning: usage.output_tokens_details?.reasoning_tokens,
          };
    return {
      tokens,
      model: response?.model ?? null,
      last: data?.type === 'response.completed' || data?.type === 'response.incomplete',
    };
  },
  chat(value) {
    const { data } = chatFrame.safeParse(value);
    const usage = data?.usage;
    const tokens =
      usage === undefined || usage === null
        ? null
        : {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            cached: usage.prompt_tokens_details?.cached_tokens,
            reasoning: usage.completion_tokens_details?.reasoning_tokens,
          };
    return {
      tokens,
      model: data?.model ?? null,
      last: data?.choices.some(({ finish_reason: reason }) => typeof reason === 'string') ?? false,
    };
  },
  gemini(value) {
    const { data } = geminiFrame.safeParse(value);
    const usage = data?.usageMetadata;
    const tokens =
      usage === undefined
        ? null
        : {
            input: usage.promptTokenCount,
            output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
            cached: usage.cachedContentTokenCount,
            reasoning: usage.thoughtsTokenCount,
          };
    return {
      tokens,
      model: data?.modelVersion ?? null,
      last: data?.candidates.some(({ finishReason }) => typeof finishReason === 'string') ?? false,
    };
  },
};

const fromAnthropic = (usage: NonNullable<z.output<typeof anthropicUsage>>): PartialCounts => ({
  input: usage.input_tokens,
  output: usage.output_tokens,
  cached: usage.cache_read_input_tokens,
  cacheWrite: usage.cache_creation_input_tokens,
  // Anthropic counts the cached parts beside the input, the others inside it.
  cachedIsApart: true,
});

/** An error inside an answer that began well. */
const errorIn = (value: JsonObject): AnswerFacts['failure'] => {
  const nested = value['type'] === 'response.failed' && isObject(value['response']) ? value['response'] : value;
  const isError = value['type'] === 'error' || isObject(nested['error']);
  if (!isError) return null;
  const { codes, message, resetsAt } = readErrorBody(
    JSON.stringify(isObject(nested['error']) ? { error: nested['error'] } : nested),
  );
  return { failure: failureOf({ status: null, codes, message }), message, resetsAt };
};

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

const parse = (json: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};
