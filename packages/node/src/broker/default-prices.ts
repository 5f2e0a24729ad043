// Prices as the providers listed them on 20 November 2026. A user's own file stands above this one.

import type { Price, Rates } from './model.ts';

/** US dollars for a million tokens: input, output, input read from the provider's cache, input written to it. */
type Row = readonly [number, number, number, number];

const rows: readonly (readonly [provider: string, model: string, rates: Row, above?: number, ratesAbove?: Row])[] = [
  ['anthropic', 'claude-fable-5', [10, 50, 1, 12.5]],
  ['anthropic', 'claude-fable-5-1', [10, 50, 0.25, 12.5]],
  ['anthropic', 'claude-fable-5-2', [8, 40, 0.2, 10]],
  ['anthropic', 'claude-haiku-4-5', [1, 5, 0.1, 1.25]],
  ['anthropic', 'claude-haiku-5-5', [0.1, 0.5, 0.01, 0.125], 100000, [0.5, 2.5, 0.05, 0.625]],
  ['anthropic', 'claude-opus-4-5', [5, 25, 0.5, 6.25]],
  ['anthropic', 'claude-opus-4-6', [5, 25, 0.5, 6.25]],
  ['anthropic', 'claude-opus-4-7', [5, 25, 0.5, 6.25]],
  ['anthropic', 'claude-opus-4-8', [5, 25, 0.5, 6.25]],
  ['anthropic', 'claude-opus-5', [5, 25, 0.5, 6.25]],
  ['anthropic', 'claude-opus-5-5', [4, 20, 0.2, 5]],
  ['anthropic', 'claude-sonnet-4-5', [3, 15, 0.3, 3.75]],
  ['anthropic', 'claude-sonnet-4-6', [3, 15, 0.3, 3.75]],
  ['anthropic', 'claude-sonnet-5', [2, 10, 0.2, 2.5]],
  ['anthropic', 'claude-sonnet-5-5', [2, 10, 0.1, 2.5]],
  ['openai', 'gpt-4.1', [2, 8, 0.5, 2]],
  ['openai', 'gpt-4.1-mini', [0.4, 1.6, 0.1, 0.4]],
  ['openai', 'gpt-4o', [2.5, 10, 1.25, 2.5]],
  ['openai', 'gpt-4o-mini', [0.15, 0.6, 0.075, 0.15]],
  ['openai', 'gpt-5', [1.25, 10, 0.125, 1.25]],
  ['openai', 'gpt-5-mini', [0.25, 2, 0.025, 0.25]],
  ['openai', 'gpt-5-nano', [0.05, 0.4, 0.005, 0.05]],
  ['openai', 'gpt-5.1', [1.25, 10, 0.125, 1.25]],
  ['openai', 'gpt-5.2', [1.75, 14, 0.175, 1.75]],
  ['openai', 'gpt-5.3-codex', [1.75, 14, 0.175, 1.75]],
  ['openai', 'gpt-5.4', [2.5, 15, 0.25, 2.5], 272000, [5, 22.5, 0.5, 5]],
  ['openai', 'gpt-5.4-mini', [0.75, 4.5, 0.075, 0.75]],
  ['openai', 'gpt-5.5', [5, 30, 0.5, 5], 272000, [10, 45, 1, 10]],
  ['openai', 'gpt-5.5-pro', [30, 180, 30, 30], 272000, [60, 270, 60, 60]],
  ['openai', 'gpt-5.6-luna', [0.2, 1.2, 0.02, 0.25], 272000, [0.4, 1.8, 0.04, 0.5]],
  ['openai', 'gpt-5.6-sol', [4, 20, 0.4, 5], 272000, [8, 30, 0.8, 10]],
  ['openai', 'gpt-5.6-terra', [2, 12, 0.2, 2.5], 272000, [4, 18, 0.4, 5]],
  ['openai', 'gpt-6-astra', [10, 50, 1, 12.5], 272000, [20, 75, 2, 25]],
  ['openai', 'gpt-6-luna', [0.1, 0.5, 0.01, 0.125], 272000, [0.2, 0.75, 0.02, 0.25]],
  ['openai', 'gpt-6-sol', [2, 10, 0.2, 2.5], 272000, [4, 15, 0.4, 5]],
  ['openai', 'gpt-6.1-sol', [2, 10, 0.1, 2.5], 272000, [4, 15, 0.2, 5]],
  ['openai', 'gpt-6.1-terra', [1, 5, 0.05, 1.25], 272000, [2, 7.5, 0.1, 2.5]],
  ['openai', 'gpt-6.2-astra', [8, 40, 0.4, 10], 272000, [16, 60, 0.8, 20]],
  ['openai', 'gpt-6.2-sol', [2, 10, 0.1, 2.5], 272000, [4, 15, 0.2, 5]],
  ['openai', 'o3', [2, 8, 0.5, 2]],
  ['openai', 'o4-mini', [1.1, 4.4, 0.275, 1.1]],
  ['google', 'gemini-2.5-flash', [0.3, 2.5, 0.03, 0.3]],
  ['google', 'gemini-2.5-flash-lite', [0.1, 0.4, 0.01, 0.1]],
  ['google', 'gemini-2.5-pro', [1.25, 10, 0.125, 1.25], 200000, [2.5, 15, 0.25, 2.5]],
  ['google', 'gemini-3-flash-preview', [0.5, 3, 0.05, 0.5]],
  ['google', 'gemini-3.1-flash-lite', [0.25, 1.5, 0.025, 0.25]],
  ['google', 'gemini-3.1-pro-preview', [2, 12, 0.2, 2], 200000, [4, 18, 0.4, 4]],
  ['google', 'gemini-3.5-flash', [1.5, 9, 0.15, 1.5]],
  ['google', 'gemini-3.5-flash-lite', [0.3, 2.5, 0.03, 0.3]],
  ['google', 'gemini-3.6-flash', [0.75, 3.75, 0.075, 0.75]],
  ['google', 'gemini-3.7-flash', [0.75, 3.75, 0.075, 0.75]],
  ['google', 'gemini-3.8-flash', [0.75, 3.75, 0.075, 0.75]],
  ['google', 'gemini-4-argon', [2, 10, 0.1, 2]],
  ['google', 'gemini-4-carbon', [2, 10, 0.1, 2]],
  ['google', 'gemini-4-hydrogen', [1.5, 7.5, 0.075, 1.5]],
  ['google', 'gemini-4-neon', [3, 15, 0.15, 3]],
];

const ratesOf = ([input, output, cacheRead, cacheWrite]: Row): Rates => ({ input, output, cacheRead, cacheWrite });

/** The built-in table. It holds for calls before its date too: an older price was not higher by much, and no price would be none. */
export const defaultPrices: readonly Price[] = rows.map(([provider, model, rates, above, ratesAbove]) => ({
  provider,
  model,
  from: null,
  rates: ratesOf(rates),
  long: above === undefined || ratesAbove === undefined ? null : { aboveInputTokens: above, rates: ratesOf(ratesAbove) },
}));
