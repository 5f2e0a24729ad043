import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { createFakeMachine, createLife, type FakeMachine } from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd, type FakeSlices } from '../../test/run-parts.ts';
import { systemClock } from '../kernel/clock.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createRunLoop } from './loop.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

type World = { readonly store: Store; readonly directory: string; readonly machine: FakeMachine };

/** A node that dies when its program is launched, before it may act. */
const liveFirst = async (world: World): Promise<{ readonly id: string; readonly slices: FakeSlices }> => {
  const life = createLife();
  const { parts, tasks, slices, intent } = await runParts({ ...world, life, harness: lineHarness, generation: 'one' });
  const { id } = await tasks.add(intent('do it'));
  createRunLoop({ ...parts, atKillPoint: (point) => (point === 'run-launched' ? life.end() : undefined) }).start();
  await life.ended;
  return { id, slices };
};

const inWorld = async (test: (world: World) => Promise<void>): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-lost-place-'));
  const file = join(directory, 'orrery.db');
  const store = await openStore({ file, clock: systemClock, log: silent, startWriter: startInlineWriter });
  try {
    await test({ store, directory, machine: createFakeMachine(() => ({ stdout: 'done\n', exitCode: 0 })) });
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
};

it('ends a task as interrupted, to be retried, when the machine lost its environment', () =>
  inWorld(async (world) => {
    const { id, slices } = await liveFirst(world);
    world.machine.openEnvironments.clear();
    const { parts, tasks } = await runParts({ ...world, life: createLife(), harness: lineHarness, generation: 'two', slices });
    const loop = createRunLoop(parts);
    await loop.recover();
    await waitForEnd(world.store, id);
    await loop.drain();
    const { state, cause, reason } = await tasks.show(id);
    expect({ state, cause, reason, tokens: slices.liveTokens(), begun: world.machine.begun }).toEqual({
      state: 'interrupted',
      cause: 'infrastructure',
      reason: expect.stringContaining('is gone, and with it whatever ran in it.') as unknown,
      tokens: [],
      begun: [],
    });
    await tasks.retry(id, undefined);
    expect((await tasks.show(id)).state).toBe('queued');
  }));

it('starts also where a directory is not the one that was recorded: it is left, and said', () =>
  inWorld(async (world) => {
    const { parts } = await runParts({ ...world, life: createLife(), harness: lineHarness, generation: 'one' });
    const warned: string[] = [];
    const log = { ...silent, warn: (event: string) => void warned.push(event) };
    await mkdir(join(parts.environmentsDirectory, 'env_strange'), { recursive: true });
    const removeEnvironment = async (): Promise<void> => {
      throw new OrreryError('path_refused', 'It is not the directory that was recorded there.');
    };
    await createRunLoop({ ...parts, log, removeEnvironment }).recover();
    expect(warned).toContain('recover.directory.left');
  }));
