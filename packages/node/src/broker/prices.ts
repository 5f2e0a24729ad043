// Glossary. Rates are US dollars for a million tokens. A price holds for one model of one provider from a day on. Where no
// price is known the cost is unknown (null), never 0.

import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { defaultPrices } from './default-prices.ts';
import type { Price, Rates, TokenCounts } from './model.ts';

/** Knows what a call costs. */
export type PriceTable = {
  /** The price at that time (ms since 1970), or null. */
  find(call: { readonly provider: string; readonly model: string; readonly atMs: number }): Price | null;
};

const usdPerMillion = z.number().min(0).max(1_000_000);
const rates = z.strictObject({
  input: usdPerMillion,
  output: usdPerMillion,
  /** Absent: as input. */
  cacheRead: usdPerMillion.optional(),
  cacheWrite: usdPerMillion.optional(),
});

/** The user's `prices.yaml`: a list; later entries and the user's own win over earlier and built-in ones. */
const pricesFile = z.array(
  rates.extend({
    provider: z.string().min(1).max(100),
    model: z.string().min(1).max(200),
    from: z.iso.date().optional(),
    long: rates.extend({ aboveInputTokens: z.int().min(1) }).optional(),
  }),
);

const ratesOf = (given: z.output<typeof rates>): Rates => ({
  input: given.input,
  output: given.output,
  cacheRead: given.cacheRead ?? given.input,
  cacheWrite: given.cacheWrite ?? given.input,
});

/** Reads a parsed price file. @throws OrreryError config_invalid naming the entry */
export const parsePrices = (value: unknown): readonly Price[] => {
  const { data, error } = pricesFile.safeParse(value);
  if (data === undefined) {
    const issue = error.issues[0];
    throw new OrreryError(
      'config_invalid',
      `The price file is wrong at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? 'not a list'}.`,
      {
        rule: 'It is a list of entries with provider, model, input and output in US dollars for a million tokens.',
        fix: '- { provider: openai, model: my-model, from: 2026-01-01, input: 1, output: 5, cacheRead: 0.1 }',
      },
    );
  }
  return data.map((entry) => ({
    provider: entry.provider,
    model: entry.model,
    from: entry.from ?? null,
    rates: ratesOf(entry),
    long: entry.long === undefined ? null : { aboveInputTokens: entry.long.aboveInputTokens, rates: ratesOf(entry.long) },
  }));
};

/** Makes a table of the user's prices above the built-in ones. */
export const createPriceTable = (own: readonly Price[] = [], builtin: readonly Price[] = defaultPrices): PriceTable => ({
  find: (call) => newest(own, call) ?? newest(builtin, call),
});

/** `claude-x-20251101` and `gpt-x-2025-11-01` are dated releases of a model and cost what it costs. */
const RELEASE_DATE = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

const newest = (
  prices: readonly Price[],
  call: { readonly provider: string; readonly model: string; readonly atMs: number },
): Price | null => {
  const day = new Date(call.atMs).toISOString().slice(0, 10);
  const holds = (price: Price, model: string) =>
    price.provider === call.provider && price.model === model && (price.from ?? '') <= day;
  const pick = (model: string): Price | null =>
    prices.reduce<Price | null>(
      (best, price) => (holds(price, model) && (best === null || (price.from ?? '') >= (best.from ?? '')) ? price : best),
      null,
    );
  return pick(call.model) ?? pick(call.model.replace(RELEASE_DATE, ''));
};

/** Cost in US dollars of these tokens. */
export const costOf = (price: Price, tokens: TokenCounts): number => {
  const { input, output, cacheRead, cacheWrite } = ratesFor(price, tokens.inputTokens);
  const fresh = Math.max(0, tokens.inputTokens - tokens.cachedTokens - tokens.cacheWriteTokens);
  return (
    (fresh * input + tokens.cachedTokens * cacheRead + tokens.cacheWriteTokens * cacheWrite + tokens.outputTokens * output) /
    1_000_000
  );
};

/**
 * The least that a call with this many bytes of body can cost: its text as if all of it were read from the cache, without
 * an answer. Four bytes a token is what providers give as a rule for English; other text has more tokens, not fewer.
 */
export const leastCostOf = (price: Price, bodyBytes: number): number => {
  const inputTokens = Math.floor(bodyBytes / 4);
  const { input, cacheRead } = ratesFor(price, inputTokens);
  return (inputTokens * Math.min(input, cacheRead)) / 1_000_000;
};

const ratesFor = ({ rates: usual, long }: Price, inputTokens: number): Rates =>
  long !== null && inputTokens > long.aboveInputTokens ? long.rates : usual;
