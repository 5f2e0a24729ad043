import type { GatewayFailure } from '../harness/harness.ts';
import type { Clock } from '../kernel/clock.ts';
import { createRemembered } from './remembered.ts';

/** What the newest model call of each environment came to. */
export type FailureMemory = {
  /** null: the newest call went well. */
  set(environmentId: string, failure: GatewayFailure | null, provider?: string): void;
  /** The usage limit of a provider that its newest call met and that is not over: the next one would meet it too. */
  limitOf(environmentId: string, provider: string): GatewayFailure | null;
  /** Something new begins: what was before says nothing of it. */
  forget(environmentId: string): void;
  /** The failure of the newest call if it ended at or after `sinceMs`, else null. */
  last(environmentId: string, sinceMs: number): GatewayFailure | null;
  noteBudget(taskId: string): void;
  /** Whether a call of the task was refused for its budget since this node started. */
  budgetRefused(taskId: string): boolean;
};

export const createFailureMemory = (clock: Pick<Clock, 'nowMs'>): FailureMemory => {
  const failures = createRemembered<{ readonly failure: GatewayFailure; readonly atMs: number; readonly provider?: string }>();
  const budgets = createRemembered<true>();
  return {
    set(environmentId, failure, provider) {
      if (failure === null) failures.forget(environmentId);
      else failures.set(environmentId, { failure, atMs: clock.nowMs(), ...(provider === undefined ? {} : { provider }) });
    },
    limitOf(environmentId, provider) {
      const known = failures.get(environmentId);
      if (known?.provider !== provider || known.failure.failure !== 'usage_limit') return null;
      const { resetsAt } = known.failure;
      return resetsAt !== null && Date.parse(resetsAt) <= clock.nowMs() ? null : known.failure;
    },
    forget: (environmentId) => failures.forget(environmentId),
    last(environmentId, sinceMs) {
      const known = failures.get(environmentId);
      return known === undefined || known.atMs < sinceMs ? null : known.failure;
    },
    noteBudget: (taskId) => budgets.set(taskId, true),
    budgetRefused: (taskId) => budgets.get(taskId) === true,
  };
};
