import type Database from 'better-sqlite3';
import type { Migration } from '../migrations/index.ts';
import { ownFaults } from './faults.ts';

const record = `CREATE TABLE IF NOT EXISTS schema_migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)`;

/**
 * Brings a database to the newest schema, each step in a transaction with its record, and answers the version it has
 * then. A database of a newer program is refused before anything is written.
 */
export const migrate = (db: Database.Database, { steps, nowMs }: { steps: readonly Migration[]; nowMs: number }): number => {
  const known = steps.at(-1)?.number ?? 0;
  const current = schemaVersion(db);
  if (current > known) {
    throw Object.assign(new Error(`The database has schema ${current}; this program knows up to ${known}.`), {
      code: ownFaults.newer,
    });
  }
  db.exec(record);
  for (const step of steps) {
    if (step.number <= current) continue;
    db.transaction(() => {
      db.exec(step.sql);
      db.prepare('INSERT INTO schema_migration (number, name, applied_at) VALUES (?, ?, ?)').run(step.number, step.name, nowMs);
    }).immediate();
  }
  return known;
};

/** The newest step that was applied; 0 for a new database. */
export const schemaVersion = (db: Database.Database): number => {
  const table = db.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migration'`).get();
  if (table === undefined) return 0;
  const row = db.prepare('SELECT max(number) AS number FROM schema_migration').get() as { number: number | null };
  return row.number ?? 0;
};
