import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import Database from 'better-sqlite3';
import { writeDurably } from '../kernel/durable-file.ts';

/** Who holds a data directory, for the message to whoever comes second. */
export type LockOwner = { readonly pid: number; readonly url: string | null };

/** The right to be the one node of a data directory. */
export type DataLock = {
  /** Writes who holds it, so that the next one can say so. */
  describe(owner: LockOwner): Promise<void>;
  release(): void;
};

/**
 * Takes the lock of a data directory or rejects with `node_already_running`, naming the process and its url. The lock is
 * one of the kernel (held by an open database file), not the existence of a file: the death of the process, however it
 * dies, ends it in the same moment, and two that start at once cannot both have it. No pid is ever trusted.
 */
export const takeDataLock = async ({ lock, data, pid }: { lock: string; data: string; pid: number }): Promise<DataLock> => {
  const ownerFile = `${lock}.owner`;
  const db = new Database(lock, { timeout: 0 });
  try {
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (thrown) {
    db.close();
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    if (code.startsWith('SQLITE_BUSY')) throw alreadyRunning(data, await readOwner(ownerFile));
    throw thrown;
  }
  const describe = (owner: LockOwner): Promise<void> => writeDurably(ownerFile, JSON.stringify(owner));
  await describe({ pid, url: null });
  return { describe, release: () => db.close() };
};

const readOwner = async (file: string): Promise<LockOwner | null> => {
  try {
    const { pid, url } = JSON.parse(await readFile(file, 'utf8')) as Partial<LockOwner>;
    return typeof pid === 'number' ? { pid, url: typeof url === 'string' ? url : null } : null;
  } catch {
    // The message is poorer then; the refusal is the same.
    return null;
  }
};

const alreadyRunning = (data: string, owner: LockOwner | null): OrreryError => {
  const who = owner === null ? '' : ` (process ${owner.pid}${owner.url === null ? '' : `, ${owner.url}`})`;
  return new OrreryError('node_already_running', `A node already runs with the data directory ${data}${who}.`, {
    rule: 'One node for each data directory.',
    fix: 'Use that one (orrery status), stop it (orrery down), or choose another: --data FOLDER',
    details: { data, pid: owner?.pid ?? null, url: owner?.url ?? null },
  });
};
