import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sampleEnvironment } from '../../test/exec/sample-specs.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { insertEnvironment, updateEnvironment } from './index.ts';
import type { NamedPorts } from './model.ts';
import { createPortAllocator } from './ports.ts';

describe('ports of environments', () => {
  let directory = '';
  let store: Store;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-ports-'));
    const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const record = (id: string, named: NamedPorts) =>
    store.transaction((tx) =>
      insertEnvironment(tx.db, {
        id,
        task_id: 'tsk_1',
        backend: 'sandbox',
        spec: JSON.stringify({ spec: sampleEnvironment({ id, ports: { connect: [], bind: [], egress: [], named } }) }),
        state: 'open',
        opened_at: 1,
        closed_at: null,
      }),
    );
  const always = async () => true;
  /** Begins to look at the first port. */
  const zeros = { bytes: (count: number) => new Uint8Array(count) };

  it('are one environment’s each, while it is about to be recorded, after a restart, and until it is closed', async () => {
    const first = createPortAllocator({ store, random: zeros, isFree: always });
    const [one, two] = await Promise.all([first.allocate('env_1', ['web', 'api']), first.allocate('env_2', ['web'])]);
    expect([one, two]).toEqual([{ web: 20_000, api: 20_001 }, { web: 20_002 }]);
    expect(await first.allocate('env_1', ['web', 'api'])).toEqual(one);
    await record('env_1', one);
    const second = createPortAllocator({ store, random: zeros, isFree: always });
    expect(await second.allocate('env_3', ['web'])).toEqual({ web: 20_002 });
    await store.transaction((tx) => updateEnvironment(tx.db, 'env_1', { state: 'closed', closed_at: 2 }));
    expect(await second.allocate('env_4', ['web'])).toEqual({ web: 20_000 });
  });

  it('are none that another program has', async () => {
    const server = createServer();
    const probe = createPortAllocator({ store, random: systemRandom });
    const { web = 0 } = await probe.allocate('env_1', ['web']);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(web, '127.0.0.1', resolve));
    try {
      const random = { bytes: () => Uint8Array.from([0, 0, (web - 20_000) >> 8, (web - 20_000) & 0xff]) };
      const { web: other } = await createPortAllocator({ store, random }).allocate('env_2', ['web']);
      expect(other).not.toBe(web);
    } finally {
      server.close();
    }
  });

  it('are refused when none is left', async () => {
    const allocator = createPortAllocator({ store, random: zeros, isFree: async () => false });
    await expect(allocator.allocate('env_1', ['web'])).rejects.toMatchObject({ code: 'limit_reached' });
    expect(await allocator.allocate('env_1', [])).toEqual({});
  });
});
