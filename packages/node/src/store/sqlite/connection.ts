import Database from 'better-sqlite3';

/** Pages of the write-ahead log before SQLite copies them into the database: 16 MiB, so that copying is rare beside commits. */
const CHECKPOINT_PAGES = 4_000;
/** What the log file shrinks to after it was copied. */
const LOG_FILE_BYTES = 64 * 1024 * 1024;

/** Opens the one writing connection: write-ahead log, each commit on the disk before it returns, foreign keys on. */
export const openWriting = ({ file, busyMs }: { file: string; busyMs: number }): Database.Database => {
  const db = new Database(file, { timeout: busyMs });
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${LOG_FILE_BYTES}`);
  return db;
};

/** Opens a connection that can only read; it sees what is committed. */
export const openReading = ({ file, busyMs }: { file: string; busyMs: number }): Database.Database => {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: busyMs });
  db.pragma('query_only = ON');
  return db;
};
