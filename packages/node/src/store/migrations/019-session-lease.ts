import type { Migration } from './migration.ts';

const sql = `
CREATE TABLE session_lease (
  session_id TEXT PRIMARY KEY REFERENCES session (id),
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL
);
`;

/** Who conducts a session: one start of a node at a time. */
export const sessionLease: Migration = { number: 19, name: 'session-lease', sql };
