import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sampleEnvironment } from '../../../test/exec/sample-specs.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import { FIRST, SECOND, runScript } from '../../../test/remote/scripts.ts';
import type { StepOrder } from '../../../test/remote/step-client.ts';
import type { Backend, Environment } from '../backend.ts';
import { createRemoteBackend } from './index.ts';
import { placeSteps } from './steps.ts';
import type { PlaceStep } from './steps.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const newOrder = (step: PlaceStep): StepOrder => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-steps-'));
  directories.push(root);
  const spec = sampleEnvironment({
    workdir: join(root, 'work'),
    home: join(root, 'home'),
    scratchpad: join(root, 'tmp'),
    brokerSocket: join(root, 'broker.sock'),
    limits: { wallMs: 120_000, outputBytes: 1_000_000 },
  });
  for (const path of [spec.workdir, spec.home, spec.scratchpad]) mkdirSync(path);
  writeFileSync(join(spec.workdir, 'kept'), 'kept');
  writeFileSync(join(spec.workdir, 'gone'), 'gone');
  return { places: join(root, 'places'), stateDir: join(root, 'state'), spec, step };
};

/** Runs the small node until it dies at its step. */
const dieAt = async (order: StepOrder): Promise<void> => {
  const client = join(import.meta.dirname, '../../../test/remote/step-client.ts');
  const child = spawn(process.execPath, [client, JSON.stringify(order)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ step: order.step, code, signal }).toEqual({ step: order.step, code: null, signal: 'SIGKILL' });
};

/** What the next start of a node does, knowing from its store what had been done. */
const goOn = async (backend: Backend, { spec, step }: StepOrder): Promise<string | null> => {
  const at = placeSteps.indexOf(step);
  let environment: Environment;
  if (at <= placeSteps.indexOf('place-open')) {
    environment = await backend.open(spec);
    await runScript(environment, FIRST);
    await environment.sync();
    await runScript(environment, SECOND);
  } else {
    environment = await backend.reopen(spec);
    if (at <= placeSteps.indexOf('synced')) await runScript(environment, SECOND);
  }
  return (await environment.close()).lost;
};

const treeOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [join(entry.parentPath, entry.name).slice(directory.length + 1), entry])
      .map(([path]) => [path as string, readFileSync(join(directory, path as string), 'utf8')]),
  );

describe('a node that dies at a step of a place', () => {
  it.each(placeSteps)(
    '%s: the next one goes on from there, nothing is lost and nothing is left behind',
    async (step) => {
      const order = newOrder(step);
      await dieAt(order);
      const places = createFakePlaces(order.places);
      const backend = createRemoteBackend(places, remoteParts(order.stateDir));
      expect(await goOn(backend, order)).toBeNull();
      expect(treeOf(order.spec.workdir)).toEqual({ kept: 'kept', first: 'changed', second: 'two', 'made/file': 'x' });
      expect([await places.list(), readdirSync(join(order.stateDir, 'fake'))]).toEqual([[], []]);
    },
    120_000,
  );

  it('and nobody goes on: the next start removes the place, and what was not brought back is kept', async () => {
    const order = newOrder('stage-out');
    await dieAt(order);
    const places = createFakePlaces(order.places);
    const backend = createRemoteBackend(places, remoteParts(order.stateDir));
    expect(await backend.reclaim([])).toEqual([order.spec.id]);
    expect([await places.list(), readdirSync(join(order.stateDir, 'fake'))]).toEqual([[], []]);
    const kept = readFileSync(join(order.stateDir, 'salvage', `${order.spec.id}.tar`)).toString('latin1');
    expect(kept).toContain('changed');
    expect(kept).not.toContain('made/file');
    expect(treeOf(order.spec.workdir)).toEqual({ kept: 'kept', first: 'one', 'made/file': 'x' });
  }, 120_000);
});
