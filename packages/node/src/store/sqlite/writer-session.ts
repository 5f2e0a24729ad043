import type Database from 'better-sqlite3';
import { toFault, type Fault } from './faults.ts';
import { createInsert } from './insert-event.ts';
import type { AppendedRow, AppendRow, Request, Result, SqlValue } from './messages.ts';
import { createPrepared } from './prepared.ts';
import { createSequences, type Mark } from './sequences.ts';

/** Runs the requests of the node on the writing connection, one after the other. */
export type WriterSession = { readonly seq: number; run(request: Request): Result };

const done: Result = { kind: 'done' };
const start: Mark = { seq: 0, changes: 0 };

/** Makes a session over an open, migrated database. One group transaction at a time, one savepoint in it at a time. */
export const createWriterSession = (db: Database.Database): WriterSession => {
  const sequences = createSequences(db);
  const insert = createInsert(db);
  const prepare = createPrepared(db);
  let groupMark = start;
  let jobMark = start;
  /** Set when the group can no longer be committed: SQLite ended its transaction (a full disk does that), or it never began. */
  let broken: Fault | null = null;

  const appendPart = (rows: readonly AppendRow[]): readonly AppendedRow[] | Fault => {
    if (broken !== null) return broken;
    const mark = sequences.mark();
    let inserted = 0;
    try {
      const numbers = rows.map(([owner]) => sequences.next(owner));
      for (const row of rows) {
        insert(numbers[inserted]!, row);
        inserted++;
      }
      return numbers.map(({ seq, sequence }) => [seq, sequence] as const);
    } catch (thrown) {
      const fault = toFault(thrown);
      // A part of which some rows were written cannot be taken back alone outside a job: then the whole group is.
      if (!db.inTransaction || inserted > 0) broken = fault;
      sequences.undoTo(mark);
      return fault;
    }
  };

  const runSql = (sql: string, parameters: readonly SqlValue[]): Result => {
    const statement = prepare(sql);
    if (statement.reader) return { kind: 'rows', rows: statement.all(parameters), changes: null, insertId: null };
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { kind: 'rows', rows: [], changes, insertId: Number(lastInsertRowid) };
  };

  const begin = (): Result => {
    broken = null;
    groupMark = sequences.mark();
    db.exec('BEGIN IMMEDIATE');
    return done;
  };

  const commit = (): Result => {
    const fault = broken;
    if (fault === null) {
      db.exec('COMMIT');
      sequences.settle();
      return done;
    }
    giveUp();
    return { kind: 'failed', fault };
  };

  const giveUp = (): void => {
    if (db.inTransaction) db.exec('ROLLBACK');
    sequences.undoTo(groupMark);
    sequences.settle();
    broken = null;
  };

  const perform = (request: Request): Result => {
    switch (request.kind) {
      case 'begin':
        return begin();
      case 'append':
        return { kind: 'appended', parts: request.parts.map(appendPart) };
      case 'savepoint':
        jobMark = sequences.mark();
        db.exec('SAVEPOINT job');
        return done;
      case 'release':
        db.exec('RELEASE job');
        return done;
      case 'rollbackTo':
        db.exec('ROLLBACK TO job');
        sequences.undoTo(jobMark);
        db.exec('RELEASE job');
        return done;
      case 'sql':
        return runSql(request.sql, request.parameters);
      case 'commit':
        return commit();
      case 'close':
        db.pragma('wal_checkpoint(TRUNCATE)');
        db.close();
        return done;
    }
  };

  const run = (request: Request): Result => {
    if (broken !== null && request.kind !== 'begin' && request.kind !== 'commit') return { kind: 'failed', fault: broken };
    try {
      return perform(request);
    } catch (thrown) {
      const fault = toFault(thrown);
      if (request.kind === 'commit') giveUp();
      else if (request.kind !== 'close' && !db.inTransaction) broken = fault;
      return { kind: 'failed', fault };
    }
  };

  return {
    get seq() {
      return sequences.seq;
    },
    run,
  };
};
