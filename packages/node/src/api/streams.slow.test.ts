import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen } from '../../test/event-stream.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { NewEvent } from '../store/store.ts';
import { createAdmission } from './admit.ts';
import { createApi } from './door.ts';
import { createUpgrades } from './upgrades.ts';
import { serveApi } from './server.ts';
import { createStreams } from './streams.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const note = (taskId: string, text: string): NewEvent => ({ taskId, turn: null, body: { kind: 'notice', level: 'info', text } });
const tokens = { authenticate: async () => ({ name: 'test', scope: 'viewer' as const }) };
const total = 2_000;

const serve = async (directory: string) => {
  const store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log });
  await store.transaction(async ({ db }) => {
    for (const id of ['tsk_a', 'tsk_b']) {
      await db
        .insertInto('task')
        .values({
          id,
          request_id: id,
          intent_hash: '',
          intent: '{}',
          state: 'running',
          harness: 'command',
          backend: 'local',
          cancel_requested: 0,
          created_at: 1,
        })
        .execute();
    }
  });
  const streams = createStreams({ store, log });
  const admit = createAdmission({ tokens, clock: systemClock });
  const upgrades = createUpgrades({ routes: [], admit, log });
  const app = createApi({ handlers: {}, admit, streams, clock: systemClock, log });
  const server = await serveApi({ app, streams, upgrades, host: '127.0.0.1', port: 0, insecureBind: false });
  return { store, streams, server };
};

const writeAll = async (append: (events: NewEvent[]) => Promise<unknown>): Promise<void> => {
  for (let written = 0; written < total; written += 10) {
    await append(Array.from({ length: 10 }, (_, n) => note(n % 2 === 0 ? 'tsk_a' : 'tsk_b', `${written + n}`)));
    // Slower than it could, so that readers come at every stage of the writing.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe('event streams under load', () => {
  it('reach 200 readers that come while 2,000 events are written: each event once, in order', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'orrery-streams-'));
    const { store, streams, server } = await serve(directory);
    const writing = writeAll((events) => store.append(events));
    const readers = [];
    for (let n = 0; n < 200; n++) {
      const ofTask = n % 4 === 3;
      const url = `${server.url}/api/v1${ofTask ? '/tasks/tsk_a/events' : '/events'}?after=${n % 5 === 0 ? 7 : 0}`;
      readers.push({ reader: await listen(url), newest: ofTask ? total / 2 : total, after: n % 5 === 0 ? 7 : 0 });
    }
    const duringWriting = store.seq() < total;
    await writing;
    for (const { reader, newest, after } of readers) {
      const heard = await reader.frames(newest - after + 1);
      expect(heard[0]).toMatchObject({ event: 'hello', data: { after } });
      expect(heard.slice(1).map(({ id }) => Number(id))).toEqual(
        Array.from({ length: newest - after }, (_, index) => after + 1 + index),
      );
    }
    expect(streams.readers).toBe(200);
    expect(duringWriting).toBe(true);
    await server.close();
    await store.close();
    await rm(directory, { recursive: true });
  });
});
