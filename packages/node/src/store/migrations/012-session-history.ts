import type { Migration } from './migration.ts';

const sql = `
ALTER TABLE session ADD COLUMN position TEXT;
ALTER TABLE session ADD COLUMN branch TEXT;
ALTER TABLE session ADD COLUMN operation TEXT;
ALTER TABLE session ADD COLUMN record TEXT;
ALTER TABLE session ADD COLUMN forked_from TEXT;
ALTER TABLE session ADD COLUMN handed_from TEXT;
ALTER TABLE session ADD COLUMN handed_to TEXT;
ALTER TABLE session ADD COLUMN name_given INTEGER NOT NULL DEFAULT 1;
ALTER TABLE turn ADD COLUMN record TEXT;
ALTER TABLE turn ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;

CREATE TABLE session_checkpoint (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  project_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  turn INTEGER,
  sequence INTEGER NOT NULL,
  ref TEXT NOT NULL,
  sha TEXT NOT NULL,
  head_sha TEXT NOT NULL,
  branch TEXT,
  staged TEXT,
  conversation TEXT,
  undone TEXT NOT NULL,
  notes TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX session_checkpoint_session ON session_checkpoint (session_id, created_at);

CREATE TABLE session_tombstone (
  session_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session_id, request_id)
);
CREATE INDEX session_tombstone_request ON session_tombstone (request_id) WHERE kind = 'session';
`;

/** Sessions go back, part, are handed over and deleted. */
export const sessionHistory: Migration = { number: 12, name: 'session-history', sql };
