import type { Migration } from './migration.ts';

/** What conversations hold beside words: attachments, the model's window, and what programs reported of themselves. */
export const sessionContent: Migration = {
  number: 6,
  name: 'session-content',
  sql: `
ALTER TABLE session ADD COLUMN context TEXT;
ALTER TABLE session ADD COLUMN told_model TEXT;
ALTER TABLE session ADD COLUMN told_effort TEXT;
ALTER TABLE session ADD COLUMN effective_model TEXT;
ALTER TABLE session ADD COLUMN effective_effort TEXT;

ALTER TABLE turn ADD COLUMN action TEXT NOT NULL DEFAULT 'say';
ALTER TABLE turn ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';

CREATE TABLE attachment (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  request_id TEXT NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX attachment_request ON attachment (session_id, request_id);

CREATE TABLE harness_catalogue (
  harness TEXT PRIMARY KEY,
  version TEXT,
  catalogue TEXT NOT NULL,
  session_id TEXT NOT NULL,
  reported_at INTEGER NOT NULL
);
`,
};
