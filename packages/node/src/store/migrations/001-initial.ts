import type { Migration } from './migration.ts';

// Events lie in order of their node-wide seq, with small integer keys and one unique index: a clustered text key was four
// times slower. Two triggers keep the table append-only: no event changes, and the newest stays, so that no seq is used twice.
const events = `
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  task_key INTEGER REFERENCES task (key),
  sequence INTEGER,
  turn INTEGER,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((task_key IS NULL) = (sequence IS NULL))
);
CREATE UNIQUE INDEX event_task ON event (task_key, sequence) WHERE task_key IS NOT NULL;
CREATE TRIGGER event_unchanged BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_newest_stays BEFORE DELETE ON event WHEN old.seq = (SELECT max(seq) FROM event)
  BEGIN SELECT RAISE(ABORT, 'the newest event stays'); END;
`;

const tasks = `
CREATE TABLE task (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  request_id TEXT NOT NULL UNIQUE,
  intent_hash TEXT NOT NULL,
  intent TEXT NOT NULL,
  state TEXT NOT NULL,
  waiting_for TEXT,
  verdict TEXT,
  cause TEXT,
  reason TEXT,
  project_id TEXT,
  harness TEXT NOT NULL,
  model TEXT,
  backend TEXT NOT NULL,
  continues TEXT,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  applied_at INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
);
CREATE INDEX task_state ON task (state, key);
CREATE INDEX task_project ON task (project_id, key);

CREATE TABLE attempt (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES task (id),
  number INTEGER NOT NULL,
  environment_id TEXT,
  backend TEXT NOT NULL,
  conversation TEXT,
  guarantees TEXT NOT NULL,
  progress TEXT NOT NULL,
  verdict TEXT,
  cause TEXT,
  reason TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (task_id, number)
);
CREATE INDEX attempt_open ON attempt (started_at) WHERE ended_at IS NULL;

CREATE TABLE stage (
  attempt_id TEXT NOT NULL REFERENCES attempt (id),
  name TEXT NOT NULL,
  round INTEGER NOT NULL,
  state TEXT NOT NULL,
  run_id TEXT,
  exit_code INTEGER,
  note TEXT,
  output TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (attempt_id, name, round)
);

CREATE TABLE queue_entry (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL UNIQUE REFERENCES task (id),
  priority INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER,
  fence INTEGER NOT NULL,
  enqueued_at INTEGER NOT NULL
);
CREATE INDEX queue_order ON queue_entry (priority, position);
CREATE TABLE queue_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
`;

const places = `
CREATE TABLE project (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  mirror TEXT NOT NULL,
  default_branch TEXT,
  head_sha TEXT,
  notes TEXT NOT NULL,
  hooks TEXT NOT NULL,
  removed_at INTEGER,
  created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX project_name ON project (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX project_source ON project (source) WHERE removed_at IS NULL;

CREATE TABLE environment (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  backend TEXT NOT NULL,
  spec TEXT NOT NULL,
  state TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  closed_at INTEGER
);
CREATE INDEX environment_task ON environment (task_id);
CREATE INDEX environment_open ON environment (opened_at) WHERE closed_at IS NULL;

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL,
  stage TEXT NOT NULL,
  round INTEGER NOT NULL,
  described TEXT NOT NULL,
  identity TEXT,
  state TEXT NOT NULL,
  stdout_offset INTEGER NOT NULL DEFAULT 0,
  stderr_offset INTEGER NOT NULL DEFAULT 0,
  translator TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  "end" TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX run_environment ON run (environment_id);
CREATE INDEX run_stage ON run (attempt_id, stage, round);
CREATE INDEX run_open ON run (started_at) WHERE ended_at IS NULL;

CREATE TABLE checkout (
  id TEXT PRIMARY KEY,
  project_id TEXT,
  path TEXT NOT NULL UNIQUE,
  device INTEGER,
  inode INTEGER,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  task_id TEXT,
  base_sha TEXT,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
);
CREATE INDEX checkout_project ON checkout (project_id, state);
CREATE INDEX checkout_task ON checkout (task_id);

CREATE TABLE salvage (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  task_id TEXT,
  ref TEXT NOT NULL,
  sha TEXT NOT NULL,
  reason TEXT NOT NULL,
  files INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, ref)
);
`;

const access = `
CREATE TABLE token (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER
);

CREATE TABLE run_token (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  grants TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX run_token_environment ON run_token (environment_id);

CREATE TABLE model_call (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL,
  environment_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  status INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_usd REAL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
);
CREATE INDEX model_call_task ON model_call (task_id);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL
);
CREATE INDEX audit_at ON audit (at);

CREATE TABLE node_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
`;

/** Every table of `tables.ts` as it was at the first version. Numbered files never change once released: add the next number. */
export const initial: Migration = { number: 1, name: 'initial', sql: [tasks, events, places, access].join('\n') };
