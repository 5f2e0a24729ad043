// Glossary. Usage is what model calls took in tokens and money, as the gateway counted it. Sums whose cost is not known of
// every call are unknown (null), never too low. This slice reads; the broker writes the calls.

import type { ModelUsage, UsageTotals } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** Sums of model calls. */
export type Usage = {
  /** Everything a task has used so far. */
  ofTask(taskId: string): Promise<UsageTotals>;
  /** By provider and model, dearest first; of one task or of all. */
  byModel(taskId: string | null): Promise<readonly ModelUsage[]>;
};

type Summed = {
  calls: number;
  input: number | null;
  output: number | null;
  cached: number | null;
  reasoning: number | null;
  cost: number | null;
  unpriced: number;
};

/** Makes the sums over the reading side of a store. */
export const createUsage = ({ store }: { readonly store: { readonly read: Kysely<Tables> } }): Usage => {
  const sums = () =>
    store.read
      .selectFrom('model_call')
      .select(({ fn, eb }) => [
        fn.countAll<number>().as('calls'),
        fn.sum<number | null>('input_tokens').as('input'),
        fn.sum<number | null>('output_tokens').as('output'),
        fn.sum<number | null>('cached_tokens').as('cached'),
        fn.sum<number | null>('reasoning_tokens').as('reasoning'),
        fn.sum<number | null>('cost_usd').as('cost'),
        fn.count<number>(eb.case().when('cost_usd', 'is', null).then(1).else(null).end()).as('unpriced'),
      ]);
  return {
    async ofTask(taskId) {
      const row = await sums().where('task_id', '=', taskId).executeTakeFirstOrThrow();
      return totalsOf(row);
    },
    async byModel(taskId) {
      let query = sums()
        .select(['provider', 'model'])
        .groupBy(['provider', 'model'])
        .orderBy('cost', 'desc')
        .orderBy('provider')
        .orderBy('model');
      if (taskId !== null) query = query.where('task_id', '=', taskId);
      return (await query.execute()).map((row) => ({ provider: row.provider, model: row.model, ...totalsOf(row) }));
    },
  };
};

const totalsOf = (row: Summed): UsageTotals => ({
  calls: row.calls,
  inputTokens: row.input ?? 0,
  outputTokens: row.output ?? 0,
  cachedTokens: row.cached ?? 0,
  reasoningTokens: row.reasoning ?? 0,
  costUsd: row.unpriced > 0 ? null : (row.cost ?? 0),
});
