// Glossary. A tombstone is what stays of a deleted session: its id and the ids of its requests, and nothing that was said.
// It answers a request that comes again, so that nobody takes it for one that was never done.

import { OrreryError } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** Leaves the ids of a session that is about to be deleted, and of everything that was asked of it. */
export const leaveTombstones = async (
  db: Kysely<Tables>,
  { id, requestId, nowMs }: { readonly id: string; readonly requestId: string; readonly nowMs: number },
): Promise<void> => {
  await db
    .insertInto('session_tombstone')
    .columns(['session_id', 'request_id', 'kind', 'at'])
    .expression((eb) =>
      eb
        .selectFrom('turn')
        .select(['session_id', 'request_id', eb.val('turn').as('kind'), eb.val(nowMs).as('at')])
        .where('session_id', '=', id),
    )
    .execute();
  await db
    .insertInto('session_tombstone')
    .values({ session_id: id, request_id: requestId, kind: 'session', at: nowMs })
    // An input may have had the same id: one is enough to know it by, and the session's finds both.
    .onConflict((oc) => oc.columns(['session_id', 'request_id']).doUpdateSet({ kind: 'session' }))
    .execute();
};

/** Throws `history_expired` for an id, or the beginning of one, of a session that was deleted. */
export const refuseDeleted = async (db: Kysely<Tables>, reference: string): Promise<void> => {
  if (!reference.startsWith('ses_')) return;
  const found = await db
    .selectFrom('session_tombstone')
    .select('session_id')
    .where('session_id', '>=', reference)
    .where('session_id', '<', `${reference}~`)
    .limit(1)
    .executeTakeFirst();
  if (found !== undefined) throw sessionDeleted(found.session_id);
};

/** Throws `history_expired` for a request of a session that was deleted. */
export const refuseExpired = async (
  db: Kysely<Tables>,
  { requestId, kind }: { readonly requestId: string; readonly kind: 'session' | 'turn' },
): Promise<void> => {
  const found = await db
    .selectFrom('session_tombstone')
    .select('session_id')
    .where('request_id', '=', requestId)
    .where('kind', '=', kind)
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) return;
  throw new OrreryError(
    'history_expired',
    `Request ${requestId} was made in the session ${found.session_id}, which was deleted.`,
    {
      rule: 'It was done or refused then, and what became of it is not kept; it is not done again.',
      fix: 'Leave the request id out, or choose a new one.',
    },
  );
};

const sessionDeleted = (id: string): OrreryError =>
  new OrreryError('history_expired', `The session ${id} was deleted.`, {
    rule: 'Nothing that was said in it is kept.',
    fix: 'orrery session list',
  });
