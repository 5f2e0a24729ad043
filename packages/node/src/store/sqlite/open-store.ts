import { open } from 'node:fs/promises';
import type { OrreryEvent } from '@orrery/protocol';
import type { OrreryError } from '@orrery/protocol/errors';
import { Kysely, SqliteDialect } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { STORE_BUSY_MS } from '../../kernel/limits.ts';
import { errorFields, type Log } from '../../kernel/log.ts';
import type { Store } from '../store.ts';
import type { Tables } from '../tables.ts';
import { createCommitLoop } from './commit-loop.ts';
import { openReading } from './connection.ts';
import { createEventReader } from './event-rows.ts';
import { fromFault, toFault } from './faults.ts';
import type { WriterSettings } from './messages.ts';
import { createPrepared } from './prepared.ts';
import { createTranscriptReader } from './transcript-reader.ts';
import { startWriter, type WriterPort } from './writer-port.ts';

type Listener = (events: readonly OrreryEvent[]) => void;

/** Listeners in the order they came; one that throws is logged and does not keep the events from the others. */
const createListeners = (log: Log) => {
  const listeners = new Set<Listener>();
  return {
    add: (listener: Listener): (() => void) => {
      // A listener of its own for each subscription, so that the same function may subscribe twice.
      const own: Listener = (events) => listener(events);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell: (events: readonly OrreryEvent[]): void => {
      for (const listener of listeners) {
        try {
          listener(events);
        } catch (thrown) {
          log.error('store.listener.failed', errorFields(thrown));
        }
      }
    },
  };
};

export type StoreSettings = {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the writer thread died: nothing can be stored any more, so that the node should stop (its start recovers). */
  readonly onLost?: (error: OrreryError) => void;
  /** Default: a thread of its own. */
  readonly startWriter?: (settings: WriterSettings) => Promise<WriterPort>;
};

const faultsNamed = <T>(query: () => T): T => {
  try {
    return query();
  } catch (thrown) {
    throw fromFault(toFault(thrown));
  }
};

/**
 * Opens the store of a data directory, making the file (0600) and bringing its schema up to date. Rejects with
 * `schema_newer`, `store_damaged`, `busy` or `disk_full`. A full disk later refuses what it cannot store with `disk_full`
 * and the store goes on when there is space again.
 */
export const openStore = async ({
  file,
  clock,
  log,
  onLost,
  startWriter: start = startWriter,
}: StoreSettings): Promise<Store> => {
  await (await open(file, 'a', 0o600)).close();
  const writer = await start({ file, busyMs: STORE_BUSY_MS, nowMs: clock.nowMs() });
  const reading = openReading({ file, busyMs: STORE_BUSY_MS });
  const read = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare: createPrepared(reading), close: () => reading.close() } }),
  });
  const reader = createEventReader(reading);
  const transcripts = createTranscriptReader(reading);
  const listeners = createListeners(log);
  let seq = writer.seq;
  const loop = createCommitLoop({
    writer,
    clock,
    onCommitted: (events) => {
      seq = events.at(-1)?.seq ?? seq;
      listeners.tell(events);
    },
  });
  void writer.lost.then((error) => {
    log.error('store.writer.lost');
    onLost?.(error);
  });
  log.info('store.opened', { seq });
  return {
    read,
    append: loop.append,
    transaction: loop.transaction,
    seq: () => seq,
    events: async (query) => faultsNamed(() => reader.events(query)),
    ownEvents: async (query) => faultsNamed(() => reader.ownEvents(query)),
    eventsBefore: async (query) => faultsNamed(() => transcripts.eventsBefore(query)),
    transcriptRows: async (query) => faultsNamed(() => transcripts.transcriptRows(query)),
    searchWords: async (query) => faultsNamed(() => transcripts.searchWords(query)),
    eventTexts: async (query) => faultsNamed(() => reader.eventTexts(query)),
    subscribe: listeners.add,
    close: async () => {
      await loop.stop();
      reading.close();
      await writer.close();
      log.info('store.closed', { seq });
    },
  };
};
