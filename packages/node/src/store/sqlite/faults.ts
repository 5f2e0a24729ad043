import { OrreryError, type ErrorCode } from '@orrery/protocol/errors';

/** A failure of SQLite as it crosses the thread: its code word, and its text, which names tables and columns but holds no values. */
export type Fault = { readonly sqlite: string; readonly text: string };

/** The fault of something thrown by the driver in the writer. */
export const toFault = (thrown: unknown): Fault => {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const code =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
      ? thrown.code
      : 'UNKNOWN';
  return { sqlite: code, text };
};

// A shared-memory file that cannot grow is a full disk too: SQLite has no better word for it.
const full = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_SHMMAP', 'ENOSPC', 'EDQUOT']);
const damaged = new Set([
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_CORRUPT_INDEX',
  'SQLITE_CORRUPT_VTAB',
  'SQLITE_CORRUPT_SEQUENCE',
]);
const doubled = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);

/** Marks made by the store itself, in the place of a code of SQLite. */
export const ownFaults = { unknownTask: 'ORRERY_UNKNOWN_TASK', newer: 'ORRERY_SCHEMA_NEWER' } as const;

const words: Partial<Record<ErrorCode, { message: string; rule?: string; fix?: string }>> = {
  disk_full: {
    message: 'The disk of the data directory is full: nothing was stored.',
    rule: 'Nothing is started or acknowledged that could not be stored.',
    fix: 'Free space on that disk, then repeat the command.',
  },
  store_damaged: {
    message: 'The database of the node is damaged.',
    rule: 'A damaged database is never repaired in place.',
    fix: 'Stop the node, keep a copy of orrery.db, orrery.db-wal and orrery.db-shm, and restore a backup.',
  },
  busy: { message: 'Another program holds the database of the node.', fix: 'Close the program that has orrery.db open.' },
  conflict: { message: 'There is already a record with that key.' },
  not_found: { message: 'There is no such task.', fix: 'orrery task list' },
};

const codeOf = ({ sqlite }: Fault): ErrorCode => {
  if (full.has(sqlite)) return 'disk_full';
  if (damaged.has(sqlite)) return 'store_damaged';
  if (doubled.has(sqlite)) return 'conflict';
  if (sqlite.startsWith('SQLITE_BUSY') || sqlite.startsWith('SQLITE_LOCKED')) return 'busy';
  if (sqlite === ownFaults.unknownTask) return 'not_found';
  if (sqlite === ownFaults.newer) return 'schema_newer';
  return 'internal';
};

/** The error for callers. `details.sqlite` keeps SQLite's own code; a doubled key names its columns in `details.columns`. */
export const fromFault = (fault: Fault): OrreryError => {
  const code = codeOf(fault);
  const { message, rule, fix } = words[code] ?? { message: 'The store failed in a way that should not happen.' };
  const columns = code === 'conflict' ? (/failed: (.*)$/.exec(fault.text)?.[1]?.split(', ') ?? []) : undefined;
  const cause = new Error(`${fault.sqlite}: ${fault.text}`);
  if (code === 'schema_newer') {
    return new OrreryError(code, fault.text, {
      rule: 'An older program never writes to a newer database.',
      fix: 'Start the newer version of orrery that was used last.',
      cause,
    });
  }
  return new OrreryError(code, message, {
    rule,
    fix,
    details: { sqlite: fault.sqlite, ...(columns === undefined ? {} : { columns }) },
    cause,
  });
};
