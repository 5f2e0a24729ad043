import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { checkInstallation } from './installation.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

describe('a database and its data directory', () => {
  let dataDirectory = '';
  let store: Store;
  beforeEach(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'orrery-installation-'));
    store = await openStore({
      file: join(dataDirectory, 'orrery.db'),
      clock: systemClock,
      log: silent,
      startWriter: startInlineWriter,
    });
  });
  afterEach(async () => {
    await store.close();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('belong together from the first start on', async () => {
    await checkInstallation(store, { id: 'ins_1', dataDirectory });
    await mkdir(join(dataDirectory, 'mirrors', 'prj_1.git'), { recursive: true });
    await checkInstallation(store, { id: 'ins_1', dataDirectory });
    await expect(checkInstallation(store, { id: 'ins_2', dataDirectory })).rejects.toMatchObject({ code: 'store_damaged' });
  });

  it('are told apart when the database was lost', async () => {
    await mkdir(join(dataDirectory, 'mirrors', 'prj_1.git'), { recursive: true });
    await expect(checkInstallation(store, { id: 'ins_1', dataDirectory })).rejects.toMatchObject({ code: 'store_damaged' });
  });
});
