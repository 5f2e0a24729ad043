// The writer thread: the only place that writes to the database. Started by open-store.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { migrations } from '../migrations/index.ts';
import { openWriting } from './connection.ts';
import { toFault } from './faults.ts';
import type { FromWriter, ToWriter, WriterSettings } from './messages.ts';
import { migrate } from './migrate.ts';
import { createWriterSession } from './writer-session.ts';

const port = parentPort;
if (port === null) throw new Error('writer.ts runs as a worker thread only');
const settings = workerData as WriterSettings;
const answer = (message: FromWriter): void => port.postMessage(message);

try {
  const db = openWriting(settings);
  const schema = migrate(db, { steps: migrations, nowMs: settings.nowMs });
  // A fresh file is whole by itself from the start: a copy without its log must not look like an empty store.
  db.pragma('wal_checkpoint(TRUNCATE)');
  const session = createWriterSession(db);
  port.on('message', ({ id, requests }: ToWriter) => {
    answer({ kind: 'results', id, results: requests.map((request) => session.run(request)) });
    if (requests.at(-1)?.kind === 'close') port.close();
  });
  answer({ kind: 'opened', seq: session.seq, schema });
} catch (thrown) {
  answer({ kind: 'refused', fault: toFault(thrown) });
  port.close();
}
