import type { Migration } from './migration.ts';

/** Texts of sessions that are too large for their events, in pieces, by what they hold; and how much a session keeps of them. What is taken from the log takes its words and texts along. */
export const sessionDetails: Migration = {
  number: 8,
  name: 'session-details',
  sql: `
CREATE TABLE session_detail (
  session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  locator TEXT NOT NULL,
  position INTEGER NOT NULL,
  piece BLOB NOT NULL
);
CREATE UNIQUE INDEX session_detail_piece ON session_detail (session_id, locator, position);
ALTER TABLE session ADD COLUMN detail_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER event_words_go AFTER DELETE ON event WHEN old.session_key IS NOT NULL
  BEGIN DELETE FROM session_words WHERE rowid = old.seq; END;
`,
};
