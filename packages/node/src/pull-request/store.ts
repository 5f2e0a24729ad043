import type { Insertable, Kysely, Updateable } from 'kysely';
import type { PullRequestTable } from '../store/pull-request-table.ts';
import type { Tables } from '../store/tables.ts';
import type { PullRequestRow, Subject } from './model.ts';

type Db = Kysely<Tables>;

/** The one of a branch of a repository. */
export const findPullRequest = async (
  db: Db,
  where: {
    readonly subject: Pick<Subject, 'kind' | 'id'>;
    readonly host: string;
    readonly repository: string;
    readonly branch: string;
  },
): Promise<PullRequestRow | null> =>
  (await db
    .selectFrom('pull_request')
    .selectAll()
    .where('subject_kind', '=', where.subject.kind)
    .where('subject_id', '=', where.subject.id)
    .where('host', '=', where.host)
    .where('repository', '=', where.repository)
    .where('branch', '=', where.branch)
    .executeTakeFirst()) ?? null;

export const pullRequestById = (db: Db, id: string): Promise<PullRequestRow> =>
  db.selectFrom('pull_request').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

export const pullRequestByRequest = async (db: Db, requestId: string): Promise<PullRequestRow | null> =>
  (await db.selectFrom('pull_request').selectAll().where('request_id', '=', requestId).executeTakeFirst()) ?? null;

/** The newest one of each of these subjects. */
export const newestPullRequests = async (
  db: Db,
  kind: Subject['kind'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, PullRequestRow>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('pull_request')
    .selectAll()
    .where('subject_kind', '=', kind)
    .where('subject_id', 'in', [...ids])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return new Map(rows.map((row) => [row.subject_id, row]));
};

export const insertPullRequest = async (db: Db, row: Insertable<PullRequestTable>): Promise<void> => {
  await db.insertInto('pull_request').values(row).execute();
};

export const updatePullRequest = async (db: Db, id: string, change: Updateable<PullRequestTable>): Promise<void> => {
  await db.updateTable('pull_request').set(change).where('id', '=', id).execute();
};
