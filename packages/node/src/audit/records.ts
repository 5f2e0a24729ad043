// Glossary. An audit record says who (actor) did what (action) to what (subject) and how it ended (outcome). Records are
// only ever added. Details are names, ids and counts: no contents, no secrets.

import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** One thing that was done, or refused. */
export type AuditRecord = {
  /** `token:<name>`, `node`, `task:<id>`, or `session:<id>` of an attached program. */
  readonly actor: string;
  /** A fixed word: `token.create`, `project.remove`. */
  readonly action: string;
  /** The id or name of what it was done to. */
  readonly subject: string;
  readonly outcome: 'done' | 'refused' | 'failed';
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
};

/** Adds a record in the transaction of what it tells about, so that there is never one without the other. */
export const appendAudit = async (db: Kysely<Tables>, record: AuditRecord, nowMs: number): Promise<void> => {
  const { actor, action, subject, outcome, detail = {} } = record;
  await db
    .insertInto('audit')
    .values({ at: nowMs, actor, action, subject, outcome, detail: JSON.stringify(detail) })
    .execute();
};

/** Which records: older than `before`, of one action or of all that begin with its word, of one actor, with one outcome. */
export type AuditQuery = {
  readonly limit: number;
  readonly before?: number | null;
  readonly action?: string | null;
  readonly actor?: string | null;
  readonly outcome?: AuditRecord['outcome'] | null;
};

/** The newest records, newest first. */
export const listAudit = async (
  db: Kysely<Tables>,
  { limit, before = null, action = null, actor = null, outcome = null }: AuditQuery,
): Promise<readonly (AuditRecord & { id: number; at: number })[]> => {
  let query = db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit);
  if (before !== null) query = query.where('id', '<', before);
  if (actor !== null) query = query.where('actor', '=', actor);
  if (outcome !== null) query = query.where('outcome', '=', outcome);
  // `egress` is also `egress.allow`: all that stands between its dot and the character after a dot.
  if (action !== null)
    query = query.where(({ eb, and, or }) =>
      or([eb('action', '=', action), and([eb('action', '>=', `${action}.`), eb('action', '<', `${action}/`)])]),
    );
  const rows = await query.execute();
  return rows.map((row) => ({
    ...row,
    outcome: row.outcome as AuditRecord['outcome'],
    detail: JSON.parse(row.detail) as AuditRecord['detail'],
  }));
};
