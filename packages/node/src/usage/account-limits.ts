// Glossary. An account is what a harness's model calls are paid by: the harness and the provider. A usage limit of it is met
// by one turn and holds for every session and task of the account, until an instant: the provider's own word, or ours. It is
// lifted when that has come, or when a turn that began after it was met succeeded. This slice writes the rows; what waits
// looks at them.

import type { Kysely, Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { Tx } from '../store/store.ts';
import type { AccountLimitTable } from '../store/queue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { USAGE_LIMIT_FAR_MS, USAGE_LIMIT_MOST_MS, USAGE_LIMIT_MS, USAGE_PROBE_MS } from './limits.ts';

type LimitRow = Selectable<AccountLimitTable>;

/** A usage limit that holds. */
export type AccountLimit = {
  readonly account: string;
  readonly until: number;
  /** Whether the provider or the program said until when. */
  readonly told: boolean;
  /** When it was met last; names it for who is let past it. */
  readonly metAt: number;
};

/** How a turn ended, as far as its account is concerned. */
export type AccountTurn = {
  readonly account: string;
  readonly outcome: string;
  /** When the limit ends, as it was said; null: it was not. */
  readonly resetsAt: string | null;
  readonly startedAt: number;
  readonly nowMs: number;
};

const rowOf = async (db: Kysely<Tables>, account: string): Promise<LimitRow | null> =>
  (await db.selectFrom('account_limit').selectAll().where('account', '=', account).executeTakeFirst()) ?? null;

const toLimit = ({ account, until, told, met_at }: LimitRow): AccountLimit => ({
  account,
  until,
  told: told === 1,
  metAt: met_at,
});

/** The limit that holds for an account now, or null. */
export const limitOf = async (db: Kysely<Tables>, account: string, nowMs: number): Promise<AccountLimit | null> => {
  const row = await rowOf(db, account);
  return row === null || row.until <= nowMs ? null : toLimit(row);
};

/** Every account that is limited now. */
export const limitsNow = async (db: Kysely<Tables>, nowMs: number): Promise<readonly AccountLimit[]> =>
  (await db.selectFrom('account_limit').selectAll().where('until', '>', nowMs).execute()).map(toLimit);

/** What keeps something from beginning, in words. */
export const limitText = ({ account, until, told }: AccountLimit): string =>
  `the usage limit of ${account}, until ${toInstant(until)}${told ? '' : ' (tried again then: nobody said when it ends)'}`;

/** In the transaction that ends a turn: its account is limited from here on, or is seen to be no longer. */
export const noteTurn = async (tx: Tx, turn: AccountTurn): Promise<void> => {
  const { account, outcome, startedAt, nowMs } = turn;
  const before = await rowOf(tx.db, account);
  if (outcome === 'limit') return meet(tx, turn, before);
  // Only what began afterwards says that it is over.
  if (outcome !== 'success' || before === null || startedAt < before.met_at) return;
  await tx.db
    .updateTable('account_limit')
    .set({ until: Math.min(before.until, nowMs), strikes: 0, lifted: 0 })
    .where('account', '=', account)
    .execute();
};

const meet = async (tx: Tx, { account, resetsAt, startedAt, nowMs }: AccountTurn, before: LimitRow | null): Promise<void> => {
  const saidMs = resetsAt === null ? Number.NaN : Date.parse(resetsAt);
  const told = saidMs > nowMs;
  // A turn that was under way when another one met it says nothing new.
  const again = before === null || startedAt >= before.met_at;
  const strikes = (before?.strikes ?? 0) + (again ? 1 : 0);
  const ownMs = again ? nowMs + Math.min(USAGE_LIMIT_MS * 2 ** (strikes - 1), USAGE_LIMIT_MOST_MS) : 0;
  const untilMs = told ? Math.min(saidMs, nowMs + USAGE_LIMIT_FAR_MS) : ownMs;
  const longer = untilMs > (before?.until ?? 0);
  const row = {
    until: longer ? untilMs : (before?.until ?? untilMs),
    told: longer ? Number(told) : (before?.told ?? Number(told)),
    strikes,
    since: before === null || before.lifted === 1 ? nowMs : before.since,
    met_at: nowMs,
    lifted: 0,
  };
  await tx.db
    .insertInto('account_limit')
    .values({ account, ...row })
    .onConflict((conflict) => conflict.column('account').doUpdateSet(row))
    .execute();
};

/** A limit whose time has come. `known`: somebody said that it ends now, or a turn succeeded. */
export type DueLimit = { readonly account: string; readonly since: number; readonly metAt: number; readonly known: boolean };

/** Limits whose time has come and of which nobody was told yet. */
export const dueLimits = async (db: Kysely<Tables>, nowMs: number): Promise<readonly DueLimit[]> => {
  const due = db.selectFrom('account_limit').selectAll().where('lifted', '=', 0).where('until', '<=', nowMs);
  return (await due.orderBy('account').execute()).map(({ account, since, met_at, told, strikes }) => ({
    account,
    since,
    metAt: met_at,
    known: told === 1 || strikes === 0,
  }));
};

/** Somebody was let past it, to find out; everybody else waits for what comes of that, up to a bound. */
export const holdForProbe = async (tx: Tx, account: string, nowMs: number): Promise<void> => {
  await tx.db
    .updateTable('account_limit')
    .set({ until: nowMs + USAGE_PROBE_MS })
    .where('account', '=', account)
    .execute();
};

/** Who waited for it is told: in the transaction that does so. One that was proven to be over is forgotten. */
export const markLifted = async (tx: Tx, account: string): Promise<void> => {
  await tx.db.deleteFrom('account_limit').where('account', '=', account).where('strikes', '=', 0).execute();
  await tx.db.updateTable('account_limit').set({ lifted: 1 }).where('account', '=', account).execute();
};
