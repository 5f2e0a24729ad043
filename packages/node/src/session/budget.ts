// What a session may cost and how many turns it may have. One that has reached either keeps what waits; raising it lets it go on.

import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';
import type { SessionRow } from './model.ts';
import { lastNumbers } from './store.ts';

/** Which of the two is reached. */
export type Spent = 'usd' | 'turns';

type Budget = Pick<SessionRow, 'id' | 'budget_usd' | 'max_turns'>;

/** What is reached now; `costUsd` null: not known of every call. `refused`: a call was, because it would have passed the budget. */
export const spentOf = async (
  db: Kysely<Tables>,
  { id, budget_usd: budget, max_turns: most }: Budget,
  { costUsd, refused }: { readonly costUsd: number | null; readonly refused: boolean },
): Promise<Spent | null> => {
  if (budget !== null && (refused || (costUsd !== null && costUsd >= budget))) return 'usd';
  return most !== null && (await lastNumbers(db, id)).turn >= most ? 'turns' : null;
};

/** A change of either: what was refused under a smaller budget may be tried under the larger one. */
export const budgetChange = async (
  db: Kysely<Tables>,
  row: SessionRow,
  {
    budgetUsd,
    maxTurns,
    costUsd,
  }: {
    readonly budgetUsd: number | null | undefined;
    readonly maxTurns: number | null | undefined;
    readonly costUsd: number | null;
  },
): Promise<Pick<SessionRow, 'budget_usd' | 'max_turns' | 'spent'>> => {
  const now = {
    budget_usd: budgetUsd === undefined ? row.budget_usd : budgetUsd,
    max_turns: maxTurns === undefined ? row.max_turns : maxTurns,
  };
  const larger = now.budget_usd === null || row.budget_usd === null || now.budget_usd > row.budget_usd;
  return { ...now, spent: await spentOf(db, { ...row, ...now }, { costUsd, refused: row.spent === 'usd' && !larger }) };
};
