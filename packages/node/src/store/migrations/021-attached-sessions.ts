import type { Migration } from './migration.ts';

const sql = `
CREATE TABLE attached_session (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  request_id TEXT NOT NULL UNIQUE,
  intent_hash TEXT NOT NULL,
  name TEXT NOT NULL,
  harness TEXT,
  agent TEXT,
  program TEXT,
  folder TEXT,
  token_id TEXT,
  made_by TEXT NOT NULL,
  reason TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX attached_session_live ON attached_session (ended_at);
`;

/** People's own programs that are attached: an identity each, and nothing that the node runs. */
export const attachedSessions: Migration = { number: 21, name: 'attached-sessions', sql };
