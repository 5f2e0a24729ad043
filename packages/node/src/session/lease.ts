// Glossary. A lease of a session says who conducts it: who may start its program, talk to it and record what it says. Its fence
// grows with every change of hands, so that a conductor that lost it can record nothing any more. Contract: sessions, dispatch.

import { OrreryError } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { LEASE_MS } from '../kernel/limits.ts';
import type { Tables } from '../store/tables.ts';

/** A session in the hands of one conductor. */
export type SessionLease = { readonly sessionId: string; readonly owner: string; readonly fence: number };

/** Whoever asks, and when. */
type Asking = { readonly owner: string; readonly nowMs: number };

const rowOf = async (db: Kysely<Tables>, sessionId: string) =>
  (await db.selectFrom('session_lease').selectAll().where('session_id', '=', sessionId).executeTakeFirst()) ?? null;

/** Takes a session; a number is the instant until which somebody else has it. Repeatable by the same owner. */
export const claimSession = async (
  db: Kysely<Tables>,
  sessionId: string,
  { owner, nowMs }: Asking,
): Promise<SessionLease | number> => {
  const before = await rowOf(db, sessionId);
  const own = before?.owner === owner;
  if (before !== null && !own && before.until > nowMs) return before.until;
  const fence = (before?.fence ?? 0) + (own ? 0 : 1);
  const row = { owner, fence, until: nowMs + LEASE_MS };
  await db
    .insertInto('session_lease')
    .values({ session_id: sessionId, ...row })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(row))
    .execute();
  return { sessionId, owner, fence };
};

/** In each transaction of a conductor, before anything else. @throws OrreryError stale once somebody else has the session */
export const checkLease = async (db: Kysely<Tables>, { sessionId, owner, fence }: SessionLease): Promise<void> => {
  const row = await rowOf(db, sessionId);
  if (row?.owner === owner && row.fence === fence) return;
  throw new OrreryError('stale', `The session ${sessionId} is conducted by another start of a node.`, {
    rule: 'Only the holder of the newest lease starts its program, talks to it and records what it says.',
    fix: `orrery session show ${sessionId}`,
  });
};

/** Prolongs the leases of an owner that nobody took. */
export const renewSessions = async (
  db: Kysely<Tables>,
  { owner, nowMs, sessionIds }: Asking & { readonly sessionIds: readonly string[] },
): Promise<void> => {
  await db
    .updateTable('session_lease')
    .set({ until: nowMs + LEASE_MS })
    .where('owner', '=', owner)
    .where('session_id', 'in', [...sessionIds])
    .execute();
};

/** Gives back all that an owner has: whoever comes next need not wait. */
export const releaseSessions = async (db: Kysely<Tables>, owner: string): Promise<void> => {
  await db.updateTable('session_lease').set({ until: 0 }).where('owner', '=', owner).execute();
};

/** What another start of the node had, which is known to be over. */
export const takeSessionsOver = async (db: Kysely<Tables>, { owner, nowMs }: Asking): Promise<void> => {
  await db
    .updateTable('session_lease')
    .set((eb) => ({ owner, fence: eb('fence', '+', 1), until: nowMs + LEASE_MS }))
    .where('owner', '!=', owner)
    .where('until', '>', 0)
    .execute();
};
