import type { Migration } from './migration.ts';

// The log of events is made anew: an event belongs to a task, to a session, or to the node alone.
const sql = `
CREATE TABLE session (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  request_id TEXT NOT NULL UNIQUE,
  intent_hash TEXT NOT NULL,
  name TEXT NOT NULL,
  project_id TEXT NOT NULL,
  environment_id TEXT NOT NULL,
  owns_environment INTEGER NOT NULL,
  harness TEXT NOT NULL,
  model TEXT,
  effort TEXT,
  mode TEXT NOT NULL,
  told_mode TEXT,
  effective_mode TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  wanted TEXT,
  conversation TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  run_id TEXT,
  failed_starts INTEGER NOT NULL DEFAULT 0,
  catalogue TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX session_environment ON session (environment_id) WHERE ended_at IS NULL;
CREATE INDEX session_project ON session (project_id);

CREATE TABLE turn (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  request_id TEXT NOT NULL,
  intent_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  position INTEGER NOT NULL,
  turn INTEGER,
  state TEXT NOT NULL,
  generation INTEGER,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  cancel_told INTEGER NOT NULL DEFAULT 0,
  outcome TEXT,
  reason TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
);
CREATE UNIQUE INDEX turn_request ON turn (session_id, request_id);
CREATE INDEX turn_open ON turn (session_id, position) WHERE ended_at IS NULL;

CREATE TABLE session_frame (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES session (id),
  generation INTEGER NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  turn_id TEXT
);
CREATE UNIQUE INDEX session_frame_key ON session_frame (session_id, generation, key);

CREATE TABLE session_run (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  generation INTEGER NOT NULL,
  described TEXT NOT NULL,
  identity TEXT,
  state TEXT NOT NULL,
  ready INTEGER NOT NULL DEFAULT 0,
  stdout_offset INTEGER NOT NULL DEFAULT 0,
  stderr_offset INTEGER NOT NULL DEFAULT 0,
  stderr_tail TEXT NOT NULL DEFAULT '',
  dialogue TEXT NOT NULL,
  end TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX session_run_session ON session_run (session_id, generation);

CREATE TABLE interaction (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  generation INTEGER NOT NULL,
  key TEXT NOT NULL,
  turn INTEGER,
  ask TEXT NOT NULL,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  message TEXT,
  by TEXT,
  told INTEGER NOT NULL DEFAULT 0,
  deadline_at INTEGER,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
);
CREATE INDEX interaction_open ON interaction (session_id) WHERE state = 'open' OR told = 0;

CREATE TABLE event_of (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  task_key INTEGER REFERENCES task (key),
  session_key INTEGER REFERENCES session (key),
  sequence INTEGER,
  turn INTEGER,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((task_key IS NULL AND session_key IS NULL) = (sequence IS NULL)),
  CHECK (task_key IS NULL OR session_key IS NULL)
);
INSERT INTO event_of (seq, at, task_key, sequence, turn, kind, body)
  SELECT seq, at, task_key, sequence, turn, kind, body FROM event;
DROP TABLE event;
ALTER TABLE event_of RENAME TO event;
CREATE UNIQUE INDEX event_task ON event (task_key, sequence) WHERE task_key IS NOT NULL;
CREATE UNIQUE INDEX event_session ON event (session_key, sequence) WHERE session_key IS NOT NULL;
CREATE TRIGGER event_unchanged BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_newest_stays BEFORE DELETE ON event WHEN old.seq = (SELECT max(seq) FROM event)
  BEGIN SELECT RAISE(ABORT, 'the newest event stays'); END;
`;

/** Sessions, their inputs, what they ask, and a log that tells whose an event is. */
export const sessions: Migration = { number: 5, name: 'sessions', sql };
