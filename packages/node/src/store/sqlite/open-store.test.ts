import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeStore } from '../../../test/store-suite.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log.ts';
import type { NewEvent } from '../store.ts';
import { startInlineWriter } from './inline-writer.ts';
import { openStore } from './open-store.ts';
import type { startWriter } from './writer-port.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const clock = { ...systemClock, nowMs: () => 1_000 };
const note = (taskId: string | null, text: string): NewEvent => ({
  taskId,
  turn: null,
  body: { kind: 'notice', level: 'info', text },
});

// The thread costs half a second for each store: the same suite runs over it among the slow tests.
describeStore({ name: 'with the writer inline', startWriter: startInlineWriter });

describe('a store whose writer died', () => {
  it('says so once, and refuses everything from then on', async () => {
    const lost = Promise.withResolvers<string>();
    const dying: typeof startWriter = async (settings) => {
      const writer = await startInlineWriter(settings);
      const gone = new OrreryError('internal', 'The writer of the store ended.');
      return { ...writer, lost: Promise.resolve(gone), send: () => Promise.reject(gone) };
    };
    const directory = await mkdtemp(join(tmpdir(), 'orrery-store-'));
    const store = await openStore({
      file: join(directory, 'orrery.db'),
      clock,
      log,
      startWriter: dying,
      onLost: (error) => lost.resolve(error.message),
    });
    expect(await lost.promise).toBe('The writer of the store ended.');
    const refused = await Promise.allSettled([store.append([note(null, 'x')]), store.transaction(async () => 1)]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await store.close();
    await rm(directory, { recursive: true });
  });
});

describe('opening the store', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-store-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('refuses a database of a newer program and leaves it as it is', async () => {
    const file = join(directory, 'orrery.db');
    const store = await openStore({ file, clock, log });
    await store.close();
    const db = new Database(file);
    db.prepare("INSERT INTO schema_migration (number, name, applied_at) VALUES (999, 'future', 0)").run();
    db.close();
    await expect(openStore({ file, clock, log })).rejects.toMatchObject({ code: 'schema_newer' });
    const after = new Database(file, { readonly: true });
    expect(after.prepare('SELECT max(number) AS number FROM schema_migration').get()).toEqual({ number: 999 });
    after.close();
  });

  it('says that a file is no database', async () => {
    const file = join(directory, 'orrery.db');
    await writeFile(file, 'not a database, but long enough to have a header that is wrong'.repeat(10));
    await expect(openStore({ file, clock, log })).rejects.toMatchObject({ code: 'store_damaged' });
  });
});
