import type { Generated } from 'kysely';

// Tables of what waits, and of what it waits for.

export type QueueEntryTable = {
  task_id: string;
  priority: number;
  not_before: number;
  lease_owner: string | null;
  lease_until: number | null;
  fence: number;
  enqueued_at: number;
  /** 1: a person asked for it while its account was used up, and it is not held up by that. */
  past_limit: Generated<number>;
  position: Generated<number>;
};
/** A task that another one must be accepted for. `kind`: `dependency` or `series`. */
export type TaskWaitTable = { task_id: string; awaits: string; kind: string };
export type QueueStateTable = { key: string; value: string };
/** A usage limit of an account; rows of one that ended stay until a turn has succeeded, to know how often it was met. */
export type AccountLimitTable = {
  account: string;
  until: number;
  /** 1: somebody said until when. */
  told: number;
  /** Times in a row that it was met. */
  strikes: number;
  since: number;
  met_at: number;
  /** 1: who waited for it was told. */
  lifted: number;
};
