import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFakeMachine, createLife } from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd } from '../../test/run-parts.ts';
import { systemClock } from '../kernel/clock.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { createRunLoop } from './loop.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

it('ends a task whose work cannot be collected, and leaves its place as it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-uncollectable-'));
  const store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  try {
    const machine = createFakeMachine(() => ({ stdout: 'done\n', exitCode: 0 }));
    const made = await runParts({ store, directory, machine, life: createLife(), harness: lineHarness, generation: 'one' });
    const broken = { ...made.parts.workspace, collect: () => Promise.reject(new Error('unreadable')) };
    const loop = createRunLoop({ ...made.parts, workspace: broken, clock: { ...systemClock, sleep: async () => undefined } });
    const { id } = await made.tasks.add(made.intent('do it'));
    loop.start();
    await waitForEnd(store, id);
    await loop.drain();
    const { state, cause, reason } = await made.tasks.show(id);
    expect({ state, cause, reason, places: made.slices.places(), open: [...machine.openEnvironments] }).toEqual({
      state: 'failed',
      cause: 'workspace',
      reason: `What the agent left could not be collected; it is kept as it is in ${directory}. Look at the node's log.`,
      places: [`${id}.1`],
      open: [],
    });
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});
