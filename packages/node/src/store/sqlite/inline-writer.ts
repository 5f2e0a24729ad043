import { migrations } from '../migrations/index.ts';
import { openWriting } from './connection.ts';
import { fromFault, toFault } from './faults.ts';
import type { WriterSettings } from './messages.ts';
import { migrate } from './migrate.ts';
import type { WriterPort } from './writer-port.ts';
import { createWriterSession } from './writer-session.ts';

/**
 * The writer without a thread, for tests and one-off programs that open many small stores: the same session, the same
 * durability, but each commit blocks the caller's thread.
 */
export const startInlineWriter = async (settings: WriterSettings): Promise<WriterPort> => {
  try {
    const db = openWriting(settings);
    migrate(db, { steps: migrations, nowMs: settings.nowMs });
    // A fresh file is whole by itself from the start: a copy without its log must not look like an empty store.
    db.pragma('wal_checkpoint(TRUNCATE)');
    const session = createWriterSession(db);
    return {
      seq: session.seq,
      send: async (requests) => requests.map((request) => session.run(request)),
      lost: new Promise(() => undefined),
      close: async () => void session.run({ kind: 'close' }),
    };
  } catch (thrown) {
    throw fromFault(toFault(thrown));
  }
};
