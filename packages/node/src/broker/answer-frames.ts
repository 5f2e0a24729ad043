// One frame of an answer on each of the four wires: its usage, its model, whether it is the last, and an error in it.

import { z } from 'zod';
import { failureOf, readErrorBody } from '../harness/failure.ts';
import type { TurnFailure } from '../harness/harness.ts';
import type { TokenCounts, WireName } from './model.ts';

type JsonObject = Readonly<Record<string, unknown>>;
/** An error inside an answer that began well, or null. */
export type FrameError = {
  readonly failure: TurnFailure | null;
  readonly message: string;
  readonly resetsAt: string | null;
  /** How long it says to wait, where it says no instant. */
  readonly waitMs?: number | null;
} | null;

/** Counts as far as a frame says them. */
export type PartialCounts = {
  input?: number;
  output?: number;
  cached?: number;
  cacheWrite?: number;
  reasoning?: number;
  cachedIsApart?: boolean;
};
/** What one frame says. */
export type Seen = {
  readonly tokens: PartialCounts | null;
  readonly model: string | null;
  readonly last: boolean;
  readonly error: FrameError;
};

export const countsOf = ({
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

export const readFrame = (wire: WireName, value: JsonObject): Seen => {
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
const errorIn = (value: JsonObject): FrameError => {
  const nested = value['type'] === 'response.failed' && isObject(value['response']) ? value['response'] : value;
  const isError = value['type'] === 'error' || isObject(nested['error']);
  if (!isError) return null;
  const { codes, message, resetsAt, waitMs } = readErrorBody(
    JSON.stringify(isObject(nested['error']) ? { error: nested['error'] } : nested),
  );
  return { failure: failureOf({ status: null, codes, message }), message, resetsAt, waitMs };
};

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object, or null for anything else. */
export const parseObject = (json: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};
