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
import { branchRow, createRow, forkRow } from './begin.ts';
import type { EnvironmentParts } from './doors.ts';
import { changeNamed, namedById } from './named-store.ts';

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

type Used = 'store' | 'clock' | 'ids' | 'resolveProject' | 'projectsById' | 'admit' | 'checkRoom';
const partsWith = (admit: EnvironmentParts['admit']): EnvironmentParts =>
  ({
    store,
    clock: systemClock,
    ids: createIds({ clock: systemClock, random: systemRandom }),
    resolveProject: async () => ({ id: 'prj_1', name: 'demo' }),
    projectsById: async () => new Map(),
    admit,
    checkRoom: () => undefined,
  }) as Pick<EnvironmentParts, Used> as EnvironmentParts;

it('one request makes one environment, also when it comes twice at once', async () => {
  const parts = partsWith(async () => 'fake');
  const ask = (base: string) => createRow(parts, { project: 'demo', start: true, requestId: 'r1', base });
  const [first, second] = await Promise.all([ask('main'), ask('main')]);
  expect([second.id, second.name]).toEqual([first.id, 'demo-1']);
  await expect(ask('other')).rejects.toMatchObject({ code: 'request_conflict' });
});

it('the image that was named is admitted, shown before it is made, and carried on by copies on the same backend that name no other', async () => {
  const asked: unknown[] = [];
  const parts = partsWith(async ({ backend, image }) => {
    asked.push([backend, image]);
    return backend ?? 'boxes';
  });
  const made = await createRow(parts, { project: 'demo', start: true, image: 'debian:12' });
  await changeRow(made.id);
  const source = (await namedById(store.read, made.id)) ?? made;
  const record = await branchRow(parts, source);
  const point = { sha: 'a', headSha: 'a', branch: null, staged: null };
  const rows = [
    made,
    await forkRow(parts, source, {}),
    await store.transaction(async (tx) => record(tx, { requestId: 'b', checkpoint: 'chk_1', point })),
    await forkRow(parts, source, { backend: 'pods' }),
    await forkRow(parts, source, { image: 'debian:13' }),
    await forkRow(parts, source, { backend: 'pods', image: 'debian:13' }),
    await createRow(parts, { project: 'demo', start: true }),
  ];
  expect(rows.map((row) => [row.backend, row.image_asked, row.image])).toEqual([
    ['boxes', 'debian:12', 'debian:12'],
    ['boxes', 'debian:12', 'debian:12'],
    ['boxes', 'debian:12', 'debian:12'],
    ['pods', null, null],
    ['boxes', 'debian:13', 'debian:13'],
    ['pods', 'debian:13', 'debian:13'],
    ['boxes', null, null],
  ]);
  expect(asked).toEqual([
    [null, 'debian:12'],
    ['pods', null],
    ['boxes', 'debian:13'],
    ['pods', 'debian:13'],
    [null, null],
  ]);
});

/** It is made, and stopped. */
const changeRow = (id: string): Promise<void> =>
  store.transaction((tx) => changeNamed(tx, id, { prepared: '{}', operation: null, state: 'stopped', nowMs: 1 }));
