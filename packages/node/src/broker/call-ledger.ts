// The only writer of `model_call`: what each call used and cost, and what a task has spent of its budget.

import type { Log } from '../kernel/log.ts';
import { errorFields } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { Price, TokenCounts, TokenIdentity } from './model.ts';
import { costOf, leastCostOf } from './prices.ts';
import { createRemembered } from './remembered.ts';

/** A call that is over. */
export type FinishedCall = {
  readonly identity: TokenIdentity;
  readonly provider: string;
  readonly model: string;
  /** HTTP status of the provider; 0: it gave none. */
  readonly status: number;
  readonly tokens: TokenCounts | null;
  readonly price: Price | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
};

/** A place in the budget for a call under way. */
export type Reservation = { release(): void };

export type CallLedger = {
  /** Whether the call fits the task's budget; null when it would pass it. The place is held until it is released. */
  reserve(call: {
    readonly identity: TokenIdentity;
    readonly price: Price | null;
    readonly bodyBytes: number;
  }): Promise<Reservation | null>;
  record(call: FinishedCall): void;
  /** Resolves when every recorded call of the environment is durable. */
  settled(environmentId: string): Promise<void>;
};

type Spending = { spentUsd: number; reservedUsd: number };

const NO_TOKENS: TokenCounts = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Makes the ledger over the store. A write that fails is logged: the answer has long been given. */
export const createCallLedger = ({ store, log }: { readonly store: Store; readonly log: Log }): CallLedger => {
  const spendings = createRemembered<Promise<Spending>>();
  const writing = new Map<string, Set<Promise<void>>>();

  const spendingOf = (taskId: string): Promise<Spending> => {
    const known = spendings.get(taskId);
    if (known !== undefined) return known;
    const read = readSpent(store, taskId).then((spentUsd) => ({ spentUsd, reservedUsd: 0 }));
    spendings.set(taskId, read);
    read.catch(() => spendings.forget(taskId));
    return read;
  };

  const write = async (call: FinishedCall, costUsd: number | null): Promise<void> => {
    try {
      await store.transaction((tx) =>
        tx.db
          .insertInto('model_call')
          .values(rowOf(call, costUsd))
          .execute()
          .then(() => undefined),
      );
    } catch (thrown) {
      log.error('broker.call.unrecorded', { ...errorFields(thrown), environmentId: call.identity.environmentId });
    }
  };

  return {
    async reserve({ identity, price, bodyBytes }) {
      const { budgetUsd } = identity.grants;
      if (budgetUsd === null || price === null) return { release: () => undefined };
      const spending = await spendingOf(identity.taskId);
      const least = leastCostOf(price, bodyBytes);
      const before = spending.spentUsd + spending.reservedUsd;
      if (before >= budgetUsd || before + least > budgetUsd) return null;
      spending.reservedUsd += least;
      let held = true;
      return {
        release() {
          if (held) spending.reservedUsd -= least;
          held = false;
        },
      };
    },
    record(call) {
      const costUsd = costUsdOf(call);
      // Counted also while it has no budget: it may get one.
      if (costUsd !== null) {
        spendings.get(call.identity.taskId)?.then(
          (spending) => void (spending.spentUsd += costUsd),
          () => undefined,
        );
      }
      const { environmentId } = call.identity;
      const pending = writing.get(environmentId) ?? new Set();
      writing.set(environmentId, pending);
      const written = write(call, costUsd).finally(() => {
        pending.delete(written);
        if (pending.size === 0 && writing.get(environmentId) === pending) writing.delete(environmentId);
      });
      pending.add(written);
    },
    async settled(environmentId) {
      for (let pending = writing.get(environmentId); pending !== undefined; pending = writing.get(environmentId))
        await Promise.all(pending);
    },
  };
};

/** A call without an answer or with a refusal costs nothing; one whose answer told no usage, or without a price, costs nobody knows what. */
const costUsdOf = ({ status, tokens, price }: FinishedCall): number | null => {
  if (status === 0 || status >= 400) return 0;
  return price === null || tokens === null ? null : costOf(price, tokens);
};

const rowOf = (call: FinishedCall, costUsd: number | null) => {
  const tokens = call.tokens ?? NO_TOKENS;
  return {
    task_id: call.identity.taskId,
    environment_id: call.identity.environmentId,
    provider: call.provider,
    model: call.model,
    status: call.status,
    input_tokens: tokens.inputTokens,
    output_tokens: tokens.outputTokens,
    cached_tokens: tokens.cachedTokens,
    reasoning_tokens: tokens.reasoningTokens,
    cost_usd: costUsd,
    started_at: call.startedAtMs,
    ended_at: call.endedAtMs,
  };
};

const readSpent = async (store: Store, taskId: string): Promise<number> => {
  const row = await store.read
    .selectFrom('model_call')
    .select(({ fn }) => fn.sum<number | null>('cost_usd').as('spent'))
    .where('task_id', '=', taskId)
    .executeTakeFirst();
  return row?.spent ?? 0;
};
