import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryEvent } from '@orrery/protocol';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kernel/clock.ts';
import { createLog } from '../src/kernel/log.ts';
import { openStore, type StoreSettings } from '../src/store/sqlite/open-store.ts';
import type { NewEvent, Store, Tx } from '../src/store/store.ts';
import { transcriptPromises } from './transcript-suite.ts';

type StartWriter = StoreSettings['startWriter'];

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const clock = { ...systemClock, nowMs: () => 1_000 };
const note = (taskId: string | null, text: string): NewEvent => ({
  taskId,
  turn: null,
  body: { kind: 'notice', level: 'info', text },
});

const addTask = (tx: Tx, id: string): Promise<unknown> =>
  tx.db
    .insertInto('task')
    .values({
      id,
      request_id: `request of ${id}`,
      intent_hash: '',
      intent: '{}',
      state: 'queued',
      harness: 'command',
      backend: 'local',
      cancel_requested: 0,
      created_at: 1,
    })
    .execute();

/** What every store promises, whichever way its writer runs. */
export const describeStore = ({ name, startWriter: start }: { name: string; startWriter: StartWriter }) =>
  describe(`the store ${name}`, () => {
    let directory = '';
    let file = '';
    let store: Store;
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'orrery-store-'));
      file = join(directory, 'orrery.db');
      store = await openStore({ file, clock, log, startWriter: start });
    });
    afterEach(async () => {
      await store.close();
      await rm(directory, { recursive: true });
    });

    transcriptPromises(() => store);

    it('numbers events of the node and of each task without gaps, and reads them back whole', async () => {
      const heard: OrreryEvent[] = [];
      store.subscribe((events) => heard.push(...events));
      const first = await store.transaction(async (tx) => {
        await addTask(tx, 'tsk_a');
        return await tx.append([note('tsk_a', 'one'), note(null, 'two')]);
      });
      const second = await store.append([note('tsk_a', 'three')]);
      const expected: OrreryEvent[] = [
        {
          seq: 1,
          at: '1970-01-01T00:00:01.000Z',
          taskId: 'tsk_a',
          sequence: 1,
          turn: null,
          body: { kind: 'notice', level: 'info', text: 'one' },
        },
        {
          seq: 2,
          at: '1970-01-01T00:00:01.000Z',
          taskId: null,
          sequence: null,
          turn: null,
          body: { kind: 'notice', level: 'info', text: 'two' },
        },
        {
          seq: 3,
          at: '1970-01-01T00:00:01.000Z',
          taskId: 'tsk_a',
          sequence: 2,
          turn: null,
          body: { kind: 'notice', level: 'info', text: 'three' },
        },
      ];
      expect([...first, ...second]).toEqual(expected);
      expect(await store.events({ after: 0, limit: 10 })).toEqual(expected);
      expect(await store.ownEvents({ owner: 'tsk_a', after: 1, limit: 10 })).toEqual([expected[2]]);
      expect(heard).toEqual(expected);
      expect(store.seq()).toBe(3);
    });

    it('gives events as the very texts they have on the wire, up to a bound', async () => {
      await store.transaction((tx) => addTask(tx, 'tsk_a'));
      await store.append([note('tsk_a', 'one "quoted"\n'), note(null, 'zwei ü'), note('tsk_a', 'three')]);
      const expected = (await store.events({ after: 0, limit: 10 })).map((event) => ({
        seq: event.seq,
        sequence: event.sequence,
        kind: event.body.kind,
        json: JSON.stringify(event),
      }));
      const texts = (owner: string | null, after: number, chars: number) => store.eventTexts({ owner, after, limit: 10, chars });
      const first = expected[0]?.json.length ?? 0;
      expect([await texts(null, 0, 1_000_000), await texts('tsk_a', 1, 1), await texts(null, 0, first + 1)]).toEqual([
        expected,
        [expected[2]],
        expected.slice(0, 2),
      ]);
    });

    it('rolls back a job that throws, alone, and gives its numbers to the next', async () => {
      await store.transaction((tx) => addTask(tx, 'tsk_a'));
      const heard: number[] = [];
      store.subscribe((events) => heard.push(...events.map(({ seq }) => seq)));
      const ended = await Promise.allSettled([
        store.transaction((tx) => tx.append([note('tsk_a', 'kept 1')])),
        store.transaction(async (tx) => {
          await addTask(tx, 'tsk_b');
          await tx.append([note('tsk_a', 'lost'), note('tsk_b', 'lost')]);
          throw new Error('the job fails');
        }),
        store.append([note('tsk_a', 'kept 2')]),
        store.transaction((tx) => tx.append([note('tsk_a', 'kept 3')])),
      ]);
      expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      const kept = await store.events({ after: 0, limit: 10 });
      expect(kept.map(({ seq, sequence, body }) => [seq, sequence, 'text' in body ? body.text : ''])).toEqual([
        [1, 1, 'kept 1'],
        [2, 2, 'kept 2'],
        [3, 3, 'kept 3'],
      ]);
      expect(heard).toEqual([1, 2, 3]);
      expect(await store.read.selectFrom('task').select('id').execute()).toEqual([{ id: 'tsk_a' }]);
    });

    it('keeps what a job wrote out of sight until it is committed', async () => {
      const seen: unknown[] = [];
      await store.transaction(async (tx) => {
        await addTask(tx, 'tsk_a');
        seen.push(await store.read.selectFrom('task').select('id').execute());
        seen.push(await tx.db.selectFrom('task').select('id').execute());
      });
      expect(seen).toEqual([[], [{ id: 'tsk_a' }]]);
    });

    it('keeps every event of many callers, each task in its own order', async () => {
      await store.transaction(async (tx) => {
        for (let n = 0; n < 20; n++) await addTask(tx, `tsk_${n}`);
      });
      await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          for (let count = 1; count <= 25; count++) {
            const [event] =
              count % 5 === 0
                ? await store.transaction((tx) => tx.append([note(`tsk_${n}`, `${count}`)]))
                : await store.append([note(`tsk_${n}`, `${count}`)]);
            expect(event?.sequence).toBe(count);
          }
        }),
      );
      const all = await store.events({ after: 0, limit: 1_000 });
      expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    });

    it('refuses events of a task that is not there, and of a body beyond the limit, without touching others', async () => {
      const ended = await Promise.allSettled([
        store.append([note('tsk_none', 'x')]),
        store.append([note(null, 'kept')]),
        store.append([note(null, 'x'.repeat(1024 * 1024))]),
      ]);
      expect(ended.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : one.status))).toEqual([
        'not_found',
        'fulfilled',
        'input_too_large',
      ]);
      expect(store.seq()).toBe(1);
    });

    it('says which key was doubled', async () => {
      await store.transaction((tx) => addTask(tx, 'tsk_a'));
      await expect(store.transaction((tx) => addTask(tx, 'tsk_a'))).rejects.toMatchObject({
        code: 'conflict',
        details: { columns: ['task.request_id'] },
      });
    });

    it('refuses a transaction used after its job, and one inside another', async () => {
      let late: Tx | null = null;
      await store.transaction(async (tx) => {
        late = tx;
      });
      await expect(late!.append([note(null, 'late')])).rejects.toMatchObject({ code: 'internal' });
      await expect(store.transaction((tx) => tx.db.transaction().execute(async () => 1))).rejects.toMatchObject({
        code: 'internal',
      });
      expect(store.seq()).toBe(0);
    });

    it('never changes an event and never forgets the newest', async () => {
      await store.append([note(null, 'one'), note(null, 'two')]);
      await expect(store.transaction((tx) => tx.db.updateTable('event').set({ body: '{}' }).execute())).rejects.toMatchObject({
        code: 'internal',
      });
      await expect(store.transaction((tx) => tx.db.deleteFrom('event').execute())).rejects.toMatchObject({ code: 'internal' });
      await store.transaction((tx) => tx.db.deleteFrom('event').where('seq', '=', 1).execute());
      expect((await store.events({ after: 0, limit: 10 })).map(({ seq }) => seq)).toEqual([2]);
    });

    it('refuses what does not fit the disk, commits nothing of it, and goes on when there is space', async () => {
      await store.transaction((tx) => addTask(tx, 'tsk_a'));
      const pages = await store.transaction(async ({ db }) => {
        const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(db);
        return rows[0]!.page_count;
      });
      await store.transaction(({ db }) => sql`PRAGMA max_page_count = ${sql.lit(pages + 1)}`.execute(db));
      const big = 'x'.repeat(20_000);
      const refused = await Promise.allSettled([
        store.append([note('tsk_a', big)]),
        store.transaction((tx) => tx.append([note('tsk_a', big)])),
      ]);
      expect(refused.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'stored'))).toEqual([
        'disk_full',
        'disk_full',
      ]);
      expect({ seq: store.seq(), stored: await store.events({ after: 0, limit: 5 }) }).toEqual({ seq: 0, stored: [] });
      await store.transaction(({ db }) => sql`PRAGMA max_page_count = 100000`.execute(db));
      expect((await store.append([note('tsk_a', big)]))[0]).toMatchObject({ seq: 1, sequence: 1 });
    });

    it('goes on with the numbers after it was opened again, and is private', async () => {
      await store.transaction(async (tx) => {
        await addTask(tx, 'tsk_a');
        await tx.append([note('tsk_a', 'one')]);
      });
      await store.close();
      await expect(store.append([note(null, 'late')])).rejects.toMatchObject({ code: 'node_draining' });
      store = await openStore({ file, clock, log, startWriter: start });
      expect(store.seq()).toBe(1);
      expect((await store.append([note('tsk_a', 'two')]))[0]).toMatchObject({ seq: 2, sequence: 2 });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    });

    it('tells the other listeners when one of them throws', async () => {
      const heard: number[] = [];
      store.subscribe(() => {
        throw new Error('bad listener');
      });
      const leave = store.subscribe((events) => heard.push(...events.map(({ seq }) => seq)));
      await store.append([note(null, 'one')]);
      leave();
      await store.append([note(null, 'two')]);
      expect(heard).toEqual([1]);
    });

    it('has every column that tables.ts names, and no other', async () => {
      const files = [
        '../src/store/tables.ts',
        '../src/store/session-tables.ts',
        '../src/store/queue-tables.ts',
        '../src/store/pull-request-table.ts',
      ];
      const source = (await Promise.all(files.map((path) => readFile(new URL(path, import.meta.url), 'utf8')))).join('\n');
      const named = new Map<string, string[]>();
      const types = new Map([...source.matchAll(/export type (\w+Table) = \{([^}]*)\};/g)].map((match) => [match[1], match[2]!]));
      const list = /export type Tables = \{([^}]*)\};/.exec(source)?.[1] ?? '';
      for (const [, table, type] of list.matchAll(/(\w+): (\w+);/g)) {
        const body = types.get(type!)!.replaceAll(/\/\*\*.*?\*\//gs, '');
        named.set(table!, [...body.matchAll(/(\w+)\??:/g)].map((match) => match[1]!).toSorted());
      }
      const db = new Database(file, { readonly: true });
      const made = new Map(
        [...named.keys()].map((table) => [
          table,
          (db.pragma(`table_info("${table}")`) as { name: string }[]).map(({ name }) => name).toSorted(),
        ]),
      );
      db.close();
      expect(named.size).toBeGreaterThan(10);
      expect(Object.fromEntries(made)).toEqual(Object.fromEntries(named));
    });
  });
