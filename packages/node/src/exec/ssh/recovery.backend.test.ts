// A node that dies while it uses a host: everything there is found again or settled, nothing of it is left, no connection
// outlives it, and what belongs to others is not touched.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/conformance/stage.ts';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { backendOn, optionsFor, sshParts } from '../../../test/ssh/places.ts';
import type { SmallNodeOrder } from '../../../test/ssh/small-node.ts';
import { clientsOf, leftOn, openSshStage, runScript } from '../../../test/ssh/stage.ts';
import type { SshStage } from '../../../test/ssh/stage.ts';
import { placeSteps } from '../remote/steps.ts';

const NODE_IN_SMALL = join(import.meta.dirname, '../../../test/ssh/small-node.ts');

describe.skipIf(noSshHost() !== null)('a node that dies', () => {
  let host: SshHost;
  let stage: SshStage;
  beforeAll(async () => {
    host = await startSshHost();
  });
  afterAll(() => host?.close());
  beforeEach(async () => {
    stage = await openSshStage();
  });
  afterEach(() => stage?.close());

  const keepersThere = (): readonly string[] => host.processes().filter((line) => line.includes('orrery-keeper'));

  const dieAt = async (step: string): Promise<void> => {
    const order: SmallNodeOrder = { options: optionsFor(host), stateDir: stage.stateDir, spec: stage.spec, step };
    const child = spawn(process.execPath, [NODE_IN_SMALL, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let failed = '';
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (failed += bytes.toString()));
    await until(`the node is at ${step}`, () => said !== '' || child.exitCode !== null, 120_000);
    expect([said, failed]).toEqual([`${step}\n`, '']);
    const connected = clientsOf(stage.stateDir).length;
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until('its connections end with it', () => clientsOf(stage.stateDir).length === 0, 60_000);
    expect(connected > 0).toBe(step !== 'place-recorded');
  };

  it.each([...placeSteps, 'running'])(
    'at %s: the next one settles what it left, and what was done is not lost',
    async (step) => {
      await dieAt(step);
      const backend = backendOn(host, sshParts(stage.stateDir));
      const environment = await backend.reopen(stage.spec);
      const { lost } = await environment.close();
      expect(lost).toBeNull();
      const ran = placeSteps.indexOf('place-open') < [...placeSteps, 'running'].indexOf(step);
      expect(existsSync(join(stage.spec.workdir, 'made'))).toBe(ran);
      expect(await backend.reclaim([])).toEqual([]);
      expect([leftOn(host), keepersThere()]).toEqual([[], []]);
    },
    180_000,
  );

  it('and is never asked for again: what nobody names is settled, what is named and what is another node’s stays', async () => {
    await dieAt('running');
    const other = backendOn(host, sshParts(join(stage.root, 'other'), { installation: 'another' }));
    const theirs = await other.open({ ...stage.spec, id: 'env-theirs' });
    await runScript(theirs, 'echo theirs > file');
    const stranger = join(host.home('root'), '.local/share/orrery/notes');
    mkdirSync(stranger, { recursive: true });
    writeFileSync(join(stranger, 'note'), 'mine');
    const backend = backendOn(host, sshParts(stage.stateDir));
    expect(await backend.reclaim([stage.spec.id])).toEqual([]);
    expect(keepersThere().length).toBeGreaterThan(0);
    expect(await backend.reclaim([])).toEqual([stage.spec.id]);
    expect((await runScript(theirs, 'cat file')).stdout).toBe('theirs\n');
    expect(leftOn(host).filter((path) => path.includes(stage.spec.id))).toEqual([]);
    expect(readFileSync(join(stranger, 'note'), 'utf8')).toBe('mine');
    await theirs.close();
    expect([leftOn(host), keepersThere()]).toEqual([[], []]);
  }, 180_000);
});
