import type { Migration } from './migration.ts';

// Rows are folded by the place where they first stood; old events get theirs here. Words are found by SQLite's own full-text
// index, written beside each event by the store itself.
const sql = `
DROP TRIGGER event_unchanged;
ALTER TABLE event ADD COLUMN row TEXT;
ALTER TABLE event ADD COLUMN row_first INTEGER;
UPDATE event SET row = kind || ' ' || json_extract(body, '$.row')
  WHERE session_key IS NOT NULL AND json_extract(body, '$.row') IS NOT NULL;
CREATE INDEX event_row ON event (session_key, row, sequence) WHERE row IS NOT NULL;
UPDATE event SET row_first = CASE WHEN row IS NULL THEN sequence ELSE
    (SELECT min(first.sequence) FROM event AS first WHERE first.session_key = event.session_key AND first.row = event.row)
  END WHERE session_key IS NOT NULL;
CREATE INDEX event_row_first ON event (session_key, row_first, sequence) WHERE row_first IS NOT NULL;
CREATE TRIGGER event_unchanged BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

CREATE VIRTUAL TABLE session_words USING fts5 (words, scope, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0);
INSERT INTO session_words (rowid, words, scope)
  SELECT event.seq,
    substr(CASE event.kind WHEN 'tool.call' THEN json_extract(body, '$.tool') || ' ' || json_extract(body, '$.input')
      ELSE json_extract(body, '$.text') END, 1, 8192),
    's' || session.key || ' p' || replace(session.project_id, '_', '')
  FROM event JOIN session ON session.key = event.session_key
  WHERE event.kind IN ('user', 'text', 'tool.call') AND NOT EXISTS
    (SELECT 1 FROM event AS later WHERE later.session_key = event.session_key AND later.row = event.row AND later.sequence > event.sequence);
`;

/** Rows of transcripts by their place, and the words in them. */
export const transcripts: Migration = { number: 7, name: 'transcripts', sql };
