// Durable events a second: 200 callers that each wait for their commit, against the raw driver writing the same rows in
// batches.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../packages/node/src/kernel/clock.ts';
import { createLog } from '../packages/node/src/kernel/log.ts';
import { openStore } from '../packages/node/src/store/sqlite/open-store.ts';
import { spreadOf, takeTurns, within, type Benchmark } from './benchmark.ts';

/** What one measurement says. `ratio` is the store's rate over the raw driver's in the same run. */
export type DurableEventsResult = {
  readonly eventsPerSecond: number;
  readonly rawEventsPerSecond: number;
  readonly ratio: number;
  readonly appenders: number;
};

const text = 'x'.repeat(600);
const quiet = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });

const measureStore = async ({
  file,
  appenders,
  events,
}: {
  file: string;
  appenders: number;
  events: number;
}): Promise<number> => {
  const store = await openStore({ file, clock: systemClock, log: quiet });
  await store.transaction(async ({ db }) => {
    for (let n = 0; n < appenders; n++) {
      await db
        .insertInto('task')
        .values({
          id: `tsk_${n}`,
          request_id: `r${n}`,
          intent_hash: '',
          intent: '{}',
          state: 'running',
          harness: 'command',
          backend: 'local',
          cancel_requested: 0,
          created_at: 0,
        })
        .execute();
    }
  });
  const each = Math.ceil(events / appenders);
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: appenders }, async (_, n) => {
      for (let count = 0; count < each; count++)
        await store.append([{ taskId: `tsk_${n}`, turn: 1, body: { kind: 'text', row: `r${count}`, text } }]);
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  await store.close();
  return (each * appenders) / seconds;
};

const measureRaw = ({ file, batch, events }: { file: string; batch: number; events: number }): number => {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(
    'CREATE TABLE event (seq INTEGER PRIMARY KEY, at INTEGER, task_key INTEGER, sequence INTEGER, turn INTEGER, kind TEXT, body TEXT)',
  );
  db.exec('CREATE UNIQUE INDEX event_task ON event (task_key, sequence)');
  const insert = db.prepare('INSERT INTO event (seq, at, task_key, sequence, turn, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?)');
  const body = JSON.stringify({ kind: 'text', row: 'r1', text });
  let seq = 0;
  const commit = db.transaction(() => {
    for (let n = 0; n < batch; n++) insert.run(++seq, 0, n, Math.floor(seq / batch), 1, 'text', body);
  });
  const begun = performance.now();
  while (seq < events) commit();
  const seconds = (performance.now() - begun) / 1000;
  db.close();
  return seq / seconds;
};

/** Measures in a directory of its own below the system's temporary one (or `directory`), which it removes. */
export const durableEvents = async ({
  appenders = 200,
  events = 60_000,
  directory = tmpdir(),
} = {}): Promise<DurableEventsResult> => {
  const place = mkdtempSync(join(directory, 'orrery-bench-'));
  try {
    const rawEventsPerSecond = measureRaw({ file: join(place, 'raw.db'), batch: appenders, events });
    const eventsPerSecond = await measureStore({ file: join(place, 'store.db'), appenders, events });
    return { eventsPerSecond, rawEventsPerSecond, ratio: eventsPerSecond / rawEventsPerSecond, appenders };
  } finally {
    rmSync(place, { recursive: true });
  }
};

/** How many events a second are on the disk before their callers go on. */
export const durableEventsBenchmark: Benchmark = {
  name: 'durable-events',
  title: 'events of 600 bytes from 200 callers that each wait for their commit',
  rounds: 5,
  run: async ({ directory, rounds }) => {
    const { both } = await takeTurns(rounds, { both: () => durableEvents({ directory }) });
    const row = {
      what: 'events appended and committed',
      unit: 'events/s',
      ours: spreadOf(both.map(({ eventsPerSecond }) => eventsPerSecond)),
      bare: spreadOf(both.map(({ rawEventsPerSecond }) => rawEventsPerSecond)),
      against: 'the raw driver, 200 rows a commit',
    } as const;
    return { rows: [within(row, { least: 20_000 })], notes: [] };
  },
};
