import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFakeMachine, createLife } from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd } from '../../test/run-parts.ts';
import type { EnvironmentSpec } from '../exec/backend.ts';
import { systemClock } from '../kernel/clock.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { createRunLoop } from './loop.ts';
import type { RunParts } from './doors.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

/** What the environment of a task is opened with. */
const openedWith = async (readOnly: boolean): Promise<{ directory: string; spec: EnvironmentSpec }> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-read-only-'));
  const store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log: silent });
  try {
    const machine = createFakeMachine(() => ({ stdout: 'done\n', exitCode: 0 }));
    const { parts, tasks, intent } = await runParts({
      store,
      directory,
      machine,
      life: createLife(),
      harness: lineHarness,
      generation: 'one',
    });
    const specs: EnvironmentSpec[] = [];
    const backend: RunParts['backend'] = (name) => {
      const real = parts.backend(name);
      return { ...real, open: (spec) => (specs.push(spec), real.open(spec)) };
    };
    const task = await tasks.add({ ...intent('look'), readOnly });
    const loop = createRunLoop({ ...parts, backend });
    loop.start();
    await waitForEnd(store, task.id);
    await loop.drain();
    const [spec] = specs;
    if (spec === undefined) throw new Error('no environment was opened');
    return { directory, spec };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
};

it('the whole checkout of a read-only task is read-only to every program of it, though each is granted it for writing', async () => {
  const { directory, spec } = await openedWith(true);
  expect(spec.readOnly).toEqual([directory]);
  expect((await openedWith(false)).spec.readOnly).toEqual([]);
});
