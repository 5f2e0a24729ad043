import { z } from 'zod';
import { usd } from './scalars.ts';

/** Tokens and money of model calls, counted by the gateway from the provider's own answers. */
export const usageTotals = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int(),
  reasoningTokens: z.int(),
  /** null: at least one call had a model without a known price. */
  costUsd: usd.nullable(),
});
export type UsageTotals = z.output<typeof usageTotals>;

/** Usage of one model in one task. */
export const modelUsage = usageTotals.extend({ provider: z.string(), model: z.string() });
export type ModelUsage = z.output<typeof modelUsage>;
