import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayFailure } from '../harness/harness.ts';
import type { Clock } from '../kernel/clock.ts';
import { createRemembered } from './remembered.ts';

/** What the newest model call of each environment came to. */
export type FailureMemory = {
  /** null: the newest call went well. */
  set(environmentId: string, failure: GatewayFailure | null, provider?: string): void;
  /** The usage limit of a provider that its newest call met and that is not over: the next one would meet it too. */
  limitOf(environmentId: string, provider: string): GatewayFailure | null;
  /** A refusal is on its way to the program, which may call again before it has gone through: what it is, is known then. */
  coming(environmentId: string, known: Promise<unknown>): void;
  /** Resolves when what is on its way to an environment is known, or after a moment. */
  settled(environmentId: string): Promise<void>;
  /** Something new begins: what was before says nothing of it. */
  forget(environmentId: string): void;
  /** The failure of the newest call if it ended at or after `sinceMs`, else null. */
  last(environmentId: string, sinceMs: number): GatewayFailure | null;
  noteBudget(taskId: string): void;
  /** Whether a call of the task was refused for its budget since this node started. */
  budgetRefused(taskId: string): boolean;
};

/** How long a call waits for what an earlier one came to, ms. */
const COMING_MS = 2_000;

export const createFailureMemory = (clock: Pick<Clock, 'nowMs'>): FailureMemory => {
  const failures = createRemembered<{ readonly failure: GatewayFailure; readonly atMs: number; readonly provider?: string }>();
  const budgets = createRemembered<true>();
  const coming = new Map<string, Promise<void>>();
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
    coming(environmentId, known) {
      const over = Promise.race([known, sleep(COMING_MS, null, { ref: false })]).then(
        () => void (coming.get(environmentId) === over && coming.delete(environmentId)),
        () => void (coming.get(environmentId) === over && coming.delete(environmentId)),
      );
      coming.set(environmentId, over);
    },
    settled: async (environmentId) => coming.get(environmentId),
    forget: (environmentId) => failures.forget(environmentId),
    last(environmentId, sinceMs) {
      const known = failures.get(environmentId);
      return known === undefined || known.atMs < sinceMs ? null : known.failure;
    },
    noteBudget: (taskId) => budgets.set(taskId, true),
    budgetRefused: (taskId) => budgets.get(taskId) === true,
  };
};
