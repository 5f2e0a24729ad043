import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentParts } from './doors.ts';
import { setupPending, type NamedRow } from './model.ts';
import { insertNamed } from './named-store.ts';
import { pruneEnvironments } from './prune.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;

const rowOf = (name: string, change: Partial<NamedRow>): NamedRow => ({
  id: `env_${name}`,
  request_id: name,
  intent: '{}',
  name,
  project_id: 'prj_1',
  backend: 'sandbox',
  image: null,
  image_asked: null,
  state: 'stopped',
  operation: null,
  reason: null,
  setup: JSON.stringify(setupPending),
  setup_key: null,
  base: null,
  egress: '[]',
  base_sha: null,
  branch: name,
  prepared: '{}',
  spec: null,
  ports: '{}',
  open: 0,
  wanted: 'stopped',
  task_id: null,
  forked_from: null,
  salvage: 1,
  disk_bytes: null,
  disk_at: null,
  created_at: 0,
  changed_at: 0,
  used_at: 0,
  deleted_at: null,
  ...change,
});

describe('retention of environments', () => {
  let directory = '';
  let store: Store;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-prune-'));
    const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
    const rows: Record<string, Partial<NamedRow>> = {
      clean: {},
      young: { used_at: NOW_MS - DAY_MS },
      running: { open: 1 },
      busy: { operation: 'setup' },
      worked: { task_id: 'tsk_1' },
      talking: {},
      dirty: {},
      stuck: {},
    };
    await store.transaction(async (tx) => {
      for (const [name, change] of Object.entries(rows)) await insertNamed(tx, rowOf(name, change));
    });
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('takes what is stopped, old, saved and nobody’s, says why the rest stays, and a dry run takes nothing', async () => {
    const gone: string[] = [];
    const told: unknown[] = [];
    const parts = {
      store,
      clock: { nowMs: () => NOW_MS },
      keptForMs: () => 30 * DAY_MS,
      heldBy: async (id: string) => (id === 'env_talking' ? 'the session chat' : null),
      unsaved: async (id: string) => (id === 'env_dirty' ? ['files'] : []),
      pruned: async (what: unknown) => void told.push(what),
    } as unknown as EnvironmentParts;
    const prune = async (dryRun: boolean) =>
      pruneEnvironments(parts, { dryRun, actor: 'node' }, async (id) => {
        if (id === 'env_stuck') throw new Error('cannot be taken away');
        gone.push(id);
      });
    const stays = {
      running: 'it is running',
      busy: 'something is done in it',
      worked: 'something is done in it',
      talking: 'the session chat can be gone on with in it',
      dirty: 'it holds files that nothing else has',
    };
    const verdicts = ({ items }: Awaited<ReturnType<typeof prune>>): object =>
      Object.fromEntries(items.map(({ name, kept }) => [name, kept]));
    expect(verdicts(await prune(true))).toEqual({ clean: null, stuck: null, ...stays });
    expect([gone, told]).toEqual([[], []]);
    expect(verdicts(await prune(false))).toEqual({ clean: null, stuck: expect.any(String), ...stays });
    expect([gone, told]).toEqual([['env_clean'], [{ id: 'env_clean', name: 'clean', actor: 'node', unusedMs: NOW_MS }]]);
  });
});
