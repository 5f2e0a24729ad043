import type { Insertable, Kysely, Selectable } from 'kysely';
import type { AttachmentTable } from '../store/session-tables.ts';
import type { Tables } from '../store/tables.ts';

type Row = Selectable<AttachmentTable>;

/** Of one session, oldest first. */
export const attachmentsOf = (db: Kysely<Tables>, sessionId: string): Promise<Row[]> =>
  db.selectFrom('attachment').selectAll().where('session_id', '=', sessionId).orderBy('created_at').orderBy('id').execute();

export const attachmentByRequest = async (db: Kysely<Tables>, sessionId: string, requestId: string): Promise<Row | null> =>
  (await db
    .selectFrom('attachment')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('request_id', '=', requestId)
    .executeTakeFirst()) ?? null;

export const insertAttachment = async (db: Kysely<Tables>, row: Insertable<AttachmentTable>): Promise<void> => {
  await db.insertInto('attachment').values(row).execute();
};

/** Ids of all there are. */
export const everyAttachment = async (db: Kysely<Tables>): Promise<string[]> =>
  (
    await db
      .selectFrom('attachment')
      .innerJoin('session', 'session.id', 'attachment.session_id')
      .select('attachment.id')
      .execute()
  ).map(({ id }) => id);
