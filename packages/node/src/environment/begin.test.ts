import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { createLog } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createRow } from './begin.ts';
import type { EnvironmentParts } from './doors.ts';

let directory: string;
let store: Store;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-begin-'));
  const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
  store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

it('one request makes one environment, also when it comes twice at once', async () => {
  const parts = {
    store,
    clock: systemClock,
    ids: createIds({ clock: systemClock, random: systemRandom }),
    resolveProject: async () => ({ id: 'prj_1', name: 'demo' }),
    admit: async () => 'fake',
    checkRoom: () => undefined,
  } as Pick<EnvironmentParts, 'store' | 'clock' | 'ids' | 'resolveProject' | 'admit' | 'checkRoom'> as EnvironmentParts;
  const ask = (base: string) => createRow(parts, { project: 'demo', start: true, requestId: 'r1', base });
  const [first, second] = await Promise.all([ask('main'), ask('main')]);
  expect([second.id, second.name]).toEqual([first.id, 'demo-1']);
  await expect(ask('other')).rejects.toMatchObject({ code: 'request_conflict' });
});
