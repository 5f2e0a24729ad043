// What a usage limit keeps waiting, and how it goes on by itself.

import { OrreryError } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { accountOf } from '../harness/account.ts';
import { claimable, letPast, queuedPrograms } from '../queue/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { changeSession, readySessions } from '../session/index.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import { requeueLimited } from '../task/index.ts';
import {
  dueLimits,
  holdForProbe,
  limitOf,
  limitsNow,
  limitText,
  markLifted,
  USAGE_LIMIT_ATTEMPTS,
  type AccountLimit,
  type DueLimit,
} from '../usage/index.ts';
import type { RunParts } from './doors.ts';

type Paid = { readonly harness: string; readonly model: string | null };

/** The account of a session or a task; null: its harness is not there any more. */
export const accountFor = ({ harness }: Pick<RunParts, 'harness'>, paid: Paid): string | null => {
  try {
    return accountOf(harness(paid.harness), paid.model);
  } catch (thrown) {
    if (thrown instanceof OrreryError) return null;
    throw thrown;
  }
};

/** What waits in the queue and is paid by an account that is used up. */
export const limitedPrograms = async (
  parts: Pick<RunParts, 'harness'>,
  db: Kysely<Tables>,
  nowMs: number,
): Promise<readonly Paid[]> => {
  const limited = new Set((await limitsNow(db, nowMs)).map(({ account }) => account));
  if (limited.size === 0) return [];
  return (await queuedPrograms(db)).filter((paid) => limited.has(accountFor(parts, paid) ?? ''));
};

type Asking = Pick<RunParts, 'harness'> & { readonly store: Pick<Store, 'read'>; readonly clock: Pick<Clock, 'nowMs'> };

/** The usage limit that holds for what a session or a task is paid by, or null. */
export const accountLimit = async (parts: Asking, paid: Paid): Promise<AccountLimit | null> => {
  const account = accountFor(parts, paid);
  return account === null ? null : limitOf(parts.store.read, account, parts.clock.nowMs());
};

/** The same in words. */
export const accountLimitText = async (parts: Asking, paid: Paid): Promise<string | null> => {
  const limit = await accountLimit(parts, paid);
  return limit === null ? null : limitText(limit);
};

/** A session as far as its account or its own budget holds it up. */
type Holding = Paid & { readonly past_limit: number | null; readonly spent: string | null };

/** Whether its budget or a usage limit holds a session up: a limit that somebody let it go past does not. */
export const isLimited = async (parts: Asking, session: Holding): Promise<boolean> => {
  if (session.spent !== null) return true;
  const limit = await accountLimit(parts, session);
  return limit !== null && limit.metAt !== session.past_limit;
};

/** Whoever waits for a limit of which nobody said when it ends: one of them finds out, and the others wait for what comes of it. */
const letOnePast = async (parts: Pick<RunParts, 'harness'>, tx: Tx, { due, nowMs }: Due): Promise<boolean> => {
  const { account, metAt, since } = due;
  const concerns = (paid: Paid): boolean => accountFor(parts, paid) === account;
  const session = (await readySessions(tx.db)).find((row) => concerns(row) && row.past_limit !== metAt);
  if (session !== undefined) {
    await changeSession(tx, session.id, { past_limit: metAt, nowMs });
    return true;
  }
  const entry = (await claimable(tx.db)).find(concerns);
  if (entry !== undefined) {
    await letPast(tx.db, entry.taskId);
    return true;
  }
  return requeueLimited(tx, { sinceMs: since, nowMs, attempts: USAGE_LIMIT_ATTEMPTS, concerns, probe: true });
};

type Due = { readonly due: DueLimit; readonly nowMs: number };

const lift = async (parts: Pick<RunParts, 'harness'>, tx: Tx, { due, nowMs }: Due): Promise<void> => {
  if (!due.known && (await letOnePast(parts, tx, { due, nowMs }))) return holdForProbe(tx, due.account, nowMs);
  await requeueLimited(tx, {
    ...{ sinceMs: due.since, nowMs, attempts: USAGE_LIMIT_ATTEMPTS },
    concerns: (task) => accountFor(parts, task) === due.account,
  });
  return markLifted(tx, due.account);
};

/**
 * Limits whose time has come hold nothing up any more: tasks that they ended are queued again, in one transaction for each.
 * One of which nobody said when it ends lets one past first. Answers the accounts; whoever waits for them is looked at again.
 */
export const liftLimits = async (parts: Pick<RunParts, 'store' | 'clock' | 'harness'>): Promise<readonly string[]> => {
  const nowMs = parts.clock.nowMs();
  const all = await dueLimits(parts.store.read, nowMs);
  for (const { account } of all)
    await parts.store.transaction(async (tx) => {
      // Somebody may have looked at the same time.
      const due = (await dueLimits(tx.db, nowMs)).find((one) => one.account === account);
      if (due !== undefined) await lift(parts, tx, { due, nowMs });
    });
  return all.map(({ account }) => account);
};
