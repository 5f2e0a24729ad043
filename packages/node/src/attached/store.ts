import type { Insertable, Kysely, Updateable } from 'kysely';
import { ATTACHED_KEPT } from './limits.ts';
import type { AttachedSessionTable } from '../store/session-tables.ts';
import type { Tables } from '../store/tables.ts';
import type { AttachedRow } from './model.ts';

/** Those that a reference names: its id, the beginning of it, or its name; the exact and the living ones first. */
export const findAttached = async (db: Kysely<Tables>, reference: string): Promise<AttachedRow | null> =>
  (await db
    .selectFrom('attached_session')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('id', '=', reference),
        eb('name', '=', reference),
        ...(/^ses_[0-9a-z]{4,}$/.test(reference) ? [eb.and([eb('id', '>=', reference), eb('id', '<', `${reference}~`)])] : []),
      ]),
    )
    .orderBy((eb) => eb('id', '=', reference), 'desc')
    .orderBy((eb) => eb('ended_at', 'is', null), 'desc')
    .orderBy('key', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null;

export const attachedByRequest = async (db: Kysely<Tables>, requestId: string): Promise<AttachedRow | null> =>
  (await db.selectFrom('attached_session').selectAll().where('request_id', '=', requestId).executeTakeFirst()) ?? null;

/** A page, newest first. `before` is the key of the last one of the page before. */
export const listAttached = (
  db: Kysely<Tables>,
  { limit, before, state }: { readonly limit: number; readonly before: number | null; readonly state?: 'attached' | 'ended' },
): Promise<AttachedRow[]> => {
  let select = db.selectFrom('attached_session').selectAll().orderBy('key', 'desc').limit(limit);
  if (before !== null) select = select.where('key', '<', before);
  if (state !== undefined) select = select.where('ended_at', state === 'ended' ? 'is not' : 'is', null);
  return select.execute();
};

/** Those that have not ended. */
export const liveAttached = (db: Kysely<Tables>): Promise<AttachedRow[]> =>
  db.selectFrom('attached_session').selectAll().where('ended_at', 'is', null).orderBy('key').execute();

export const insertAttached = async (db: Kysely<Tables>, row: Insertable<AttachedSessionTable>): Promise<void> => {
  await db.insertInto('attached_session').values(row).execute();
};

export const updateAttached = async (db: Kysely<Tables>, id: string, change: Updateable<AttachedSessionTable>): Promise<void> => {
  await db.updateTable('attached_session').set(change).where('id', '=', id).execute();
};

/** Forgets the oldest of those that have ended, beyond what is listed. */
export const forgetOldest = async (db: Kysely<Tables>): Promise<void> => {
  await db
    .deleteFrom('attached_session')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('attached_session')
        .select('key')
        .where('ended_at', 'is not', null)
        .orderBy('key', 'desc')
        .limit(-1)
        .offset(ATTACHED_KEPT),
    )
    .execute();
};
