import { isId } from '@orrery/protocol/ids';
import type Database from 'better-sqlite3';
import { ownFaults } from './faults.ts';

/** Whose log an event is in: a task's or a session's, by the key of its row. */
export type Owner = {
  readonly of: 'task' | 'session';
  readonly key: number;
  /** Of a session: the tokens that a search is narrowed by. */
  readonly scope: string | null;
};

/** The owner of a log and the sequence of its newest event. */
type Counter = { readonly owner: Owner; readonly sequence: number };

/** Where the counters stood, to go back to when what was written since is rolled back. */
export type Mark = { readonly seq: number; readonly changes: number };

/** Hands out `seq` and each log's contiguous `sequence`, in step with what is rolled back. */
export type Sequences = {
  readonly seq: number;
  /** The numbers of the next event of a task or session (null: of none). Throws `ORRERY_UNKNOWN_TASK` for one without a row. */
  next(id: string | null): { readonly seq: number; readonly owner: Owner | null; readonly sequence: number | null };
  mark(): Mark;
  undoTo(mark: Mark): void;
  /** Forgets what could have been undone: the group is committed. */
  settle(): void;
};

/** Logs whose counters stay in memory; the others are read again when they are needed. */
const CACHED_LOGS = 20_000;

export const createSequences = (db: Database.Database): Sequences => {
  const newest = db.prepare('SELECT max(seq) AS seq FROM event').get() as { seq: number | null };
  const find = {
    task: statements(db, 'task'),
    session: statements(db, 'session'),
  };
  const counters = new Map<string, Counter>();
  let seq = newest.seq ?? 0;
  let changes: { id: string; before: Counter | undefined }[] = [];

  const load = (id: string): Counter => {
    const of = isId('session', id) ? 'session' : 'task';
    const row = find[of].key.get(id) as { key: number; project_id: string } | undefined;
    if (row === undefined) throw Object.assign(new Error('There is no such task.'), { code: ownFaults.unknownTask });
    const last = find[of].sequence.get(row.key) as { sequence: number | null };
    const scope = of === 'session' ? searchScope({ session: row.key, project: row.project_id }) : null;
    return { owner: { of, key: row.key, scope }, sequence: last.sequence ?? 0 };
  };

  return {
    get seq() {
      return seq;
    },
    next: (id) => {
      if (id === null) return { seq: ++seq, owner: null, sequence: null };
      const before = counters.get(id);
      const { owner, sequence } = before ?? load(id);
      changes.push({ id, before });
      counters.set(id, { owner, sequence: sequence + 1 });
      return { seq: ++seq, owner, sequence: sequence + 1 };
    },
    mark: () => ({ seq, changes: changes.length }),
    undoTo: (mark) => {
      for (const { id, before } of changes.splice(mark.changes).toReversed()) {
        if (before === undefined) counters.delete(id);
        else counters.set(id, before);
      }
      seq = mark.seq;
    },
    settle: () => {
      changes = [];
      if (counters.size > CACHED_LOGS) counters.clear();
    },
  };
};

/** The tokens of a session and of its project in the index of words. */
export const searchScope = ({ session, project }: { readonly session: number; readonly project: string }): string =>
  `${sessionToken(session)} ${projectToken(project)}`;
export const sessionToken = (key: number): string => `s${key}`;
export const projectToken = (id: string): string => `p${id.replaceAll('_', '')}`;

const statements = (db: Database.Database, of: Owner['of']) => ({
  key: db.prepare(`SELECT key, project_id FROM ${of} WHERE id = ?`),
  sequence: db.prepare(`SELECT max(sequence) AS sequence FROM event WHERE ${of}_key = ?`),
});
