import type Database from 'better-sqlite3';
import type { AppendRow } from './messages.ts';
import type { Sequences } from './sequences.ts';

type Numbers = ReturnType<Sequences['next']>;

/** Inserts one event; of a session also its place among the rows and the words it is found by. A revision takes the place of the words before. */
export const createInsert = (db: Database.Database): ((numbers: Numbers, row: AppendRow) => void) => {
  const insert = db.prepare(
    'INSERT INTO event (seq, at, task_key, session_key, sequence, turn, kind, body, row, row_first) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const newest = db.prepare(
    'SELECT seq, row_first AS first FROM event WHERE session_key = ? AND row = ? ORDER BY sequence DESC LIMIT 1',
  );
  const addWords = db.prepare('INSERT INTO session_words (rowid, words, scope) VALUES (?, ?, ?)');
  const dropWords = db.prepare('DELETE FROM session_words WHERE rowid = ?');

  return ({ seq, owner, sequence }, [, turn, kind, body, at, row, words]) => {
    if (owner?.of !== 'session') {
      insert.run(seq, at, owner?.key ?? null, null, sequence, turn, kind, body, null, null);
      return;
    }
    const before = row === null ? undefined : (newest.get(owner.key, row) as { seq: number; first: number } | undefined);
    insert.run(seq, at, null, owner.key, sequence, turn, kind, body, row, before?.first ?? sequence);
    if (words === null) return;
    if (before !== undefined) dropWords.run(before.seq);
    addWords.run(seq, words, owner.scope);
  };
};
