import type { Migration } from './migration.ts';

const sql = `
CREATE TABLE pull_request (
  id TEXT PRIMARY KEY,
  subject_kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  host TEXT NOT NULL,
  repository TEXT NOT NULL,
  branch TEXT NOT NULL,
  base TEXT,
  title TEXT NOT NULL,
  draft INTEGER NOT NULL,
  state TEXT NOT NULL,
  number INTEGER,
  url TEXT,
  pushing_sha TEXT,
  pushed_sha TEXT,
  request_id TEXT,
  intent_hash TEXT,
  answer TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  checked_at INTEGER,
  UNIQUE (subject_kind, subject_id, host, repository, branch)
);
CREATE INDEX pull_request_request ON pull_request (request_id);
`;

/** Pull requests, each written down before it is pushed and before it is opened. */
export const pullRequests: Migration = { number: 22, name: 'pull-requests', sql };
