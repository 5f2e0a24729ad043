import type { Migration } from './migration.ts';

const sql = `
CREATE TABLE named_environment (
  id TEXT PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  intent TEXT NOT NULL,
  name TEXT NOT NULL,
  project_id TEXT NOT NULL,
  backend TEXT NOT NULL,
  image TEXT,
  state TEXT NOT NULL,
  operation TEXT,
  reason TEXT,
  setup TEXT NOT NULL,
  setup_key TEXT,
  base TEXT,
  base_sha TEXT,
  branch TEXT NOT NULL,
  prepared TEXT,
  spec TEXT,
  ports TEXT NOT NULL,
  open INTEGER NOT NULL DEFAULT 0,
  wanted TEXT NOT NULL,
  task_id TEXT,
  forked_from TEXT,
  salvage INTEGER NOT NULL DEFAULT 0,
  disk_bytes INTEGER,
  disk_at INTEGER,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  deleted_at INTEGER
);
CREATE UNIQUE INDEX named_environment_name ON named_environment (name) WHERE deleted_at IS NULL;
CREATE INDEX named_environment_project ON named_environment (project_id) WHERE deleted_at IS NULL;

ALTER TABLE task ADD COLUMN environment_id TEXT;
CREATE INDEX task_environment ON task (environment_id) WHERE environment_id IS NOT NULL;
`;

/** Environments of their own, and tasks that work in one. */
export const namedEnvironments: Migration = { number: 2, name: 'named-environments', sql };
