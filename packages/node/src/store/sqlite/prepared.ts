import type Database from 'better-sqlite3';

/** Prepared statements that are kept; beyond, all are prepared again. Queries of slices are few and fixed. */
const PREPARED_STATEMENTS = 500;

/**
 * Prepares each text once for as long as the connection lives. Whoever takes a statement runs it to its end before the
 * next one is taken: rows are read all at once, never step by step.
 */
export const createPrepared = (db: Database.Database): ((sql: string) => Database.Statement) => {
  const prepared = new Map<string, Database.Statement>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    if (prepared.size >= PREPARED_STATEMENTS) prepared.clear();
    const statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
};
