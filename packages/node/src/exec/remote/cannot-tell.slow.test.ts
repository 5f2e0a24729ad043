// What is missing on the way to a place is not the same before there is one and when there is: docker, kubernetes and ssh alike.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import type { EnvironmentSpec } from '../backend.ts';
import { createRemoteBackend } from './index.ts';

let root = '';
let spec: EnvironmentSpec;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-cannot-tell-'));
  const [workdir = '', home = '', scratchpad = ''] = ['work', 'home', 'tmp'].map((name) => join(root, name));
  for (const path of [workdir, home, scratchpad]) mkdirSync(path);
  const brokerSocket = join(root, 'broker.sock');
  spec = sampleEnvironment({ workdir, home, scratchpad, brokerSocket, limits: { wallMs: 120_000, outputBytes: 1024 ** 3 } });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('an environment of which nobody can tell since what leads there is missing is not lost: only a new one is refused for that', async () => {
  const places = createFakePlaces(join(root, 'places'));
  const state = join(root, 'state');
  const first = createRemoteBackend(places, remoteParts(state));
  const environment = await first.open(spec);
  const handle = await environment.start(
    sampleRun({ command: 'sleep', args: ['1000'], cwd: environment.workdir, limits: spec.limits }),
  );
  await handle.go();
  first.detach?.();
  places.unconfigured = true;
  const hasty = createRemoteBackend(places, remoteParts(state, { patienceMs: 0 }));
  const cannotTell = { code: 'backend_unreachable', message: 'Nothing is configured.', fix: 'Configure it.' };
  await expect(hasty.reopen(spec)).rejects.toMatchObject(cannotTell);
  await expect(hasty.reclaim([])).rejects.toMatchObject(cannotTell);
  const nobody = async (): Promise<string[]> => [];
  await expect(hasty.prune?.({ live: nobody, known: nobody, dryRun: true })).rejects.toMatchObject(cannotTell);
  await expect(hasty.preflight([])).rejects.toMatchObject({ code: 'backend_unavailable' });
  await expect(hasty.open({ ...spec, id: 'env_new' })).rejects.toMatchObject({ code: 'backend_unavailable' });
  const patient = createRemoteBackend(places, remoteParts(state)).reopen(spec);
  places.unconfigured = false;
  const again = await patient;
  const found = await again.reattach(handle.id);
  expect(await found!.tryWait()).toBeNull();
  expect(await again.close()).toEqual({ lost: null });
}, 120_000);
