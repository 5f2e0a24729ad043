import type Database from 'better-sqlite3';
import { ownFaults } from './faults.ts';

/** The key of a task's row and the sequence of its newest event. */
type Counter = { readonly key: number; readonly sequence: number };

/** Where the counters stood, to go back to when what was written since is rolled back. */
export type Mark = { readonly seq: number; readonly changes: number };

/** Hands out `seq` and each task's contiguous `sequence`, in step with what is rolled back. */
export type Sequences = {
  readonly seq: number;
  /** The numbers of the next event of a task (null: of none). Throws `ORRERY_UNKNOWN_TASK` for a task without a row. */
  next(taskId: string | null): { readonly seq: number; readonly key: number | null; readonly sequence: number | null };
  mark(): Mark;
  undoTo(mark: Mark): void;
  /** Forgets what could have been undone: the group is committed. */
  settle(): void;
};

/** Tasks whose counters stay in memory; the others are read again when they are needed. */
const CACHED_TASKS = 20_000;

export const createSequences = (db: Database.Database): Sequences => {
  const newest = db.prepare('SELECT max(seq) AS seq FROM event').get() as { seq: number | null };
  const findKey = db.prepare('SELECT key FROM task WHERE id = ?');
  const findSequence = db.prepare('SELECT max(sequence) AS sequence FROM event WHERE task_key = ?');
  const counters = new Map<string, Counter>();
  let seq = newest.seq ?? 0;
  let changes: { taskId: string; before: Counter | undefined }[] = [];

  const load = (taskId: string): Counter => {
    const row = findKey.get(taskId) as { key: number } | undefined;
    if (row === undefined) throw Object.assign(new Error('There is no such task.'), { code: ownFaults.unknownTask });
    const last = findSequence.get(row.key) as { sequence: number | null };
    return { key: row.key, sequence: last.sequence ?? 0 };
  };

  return {
    get seq() {
      return seq;
    },
    next: (taskId) => {
      if (taskId === null) return { seq: ++seq, key: null, sequence: null };
      const before = counters.get(taskId);
      const { key, sequence } = before ?? load(taskId);
      changes.push({ taskId, before });
      counters.set(taskId, { key, sequence: sequence + 1 });
      return { seq: ++seq, key, sequence: sequence + 1 };
    },
    mark: () => ({ seq, changes: changes.length }),
    undoTo: (mark) => {
      for (const { taskId, before } of changes.splice(mark.changes).toReversed()) {
        if (before === undefined) counters.delete(taskId);
        else counters.set(taskId, before);
      }
      seq = mark.seq;
    },
    settle: () => {
      changes = [];
      if (counters.size > CACHED_TASKS) counters.clear();
    },
  };
};
