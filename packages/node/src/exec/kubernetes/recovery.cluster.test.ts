// A node that is killed at any step of an environment in a pod: the next one has its work and leaves nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE, word } from '../../../test/conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { makePodBackend } from '../../../test/kubernetes/backend.ts';
import { podsOf, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import type { CrashOrder } from '../../../test/kubernetes/crash-client.ts';
import { freshInstance } from '../../../test/kubernetes/provider.ts';
import type { EnvironmentSpec } from '../backend.ts';

const CLIENT = new URL('../../../test/kubernetes/crash-client.ts', import.meta.url).pathname;

/** One step of each thing that is done: opening, staging in, running, bringing back, closing. Docker and hosts are closed at all of them. */
const STEPS: readonly CrashOrder['step'][] = [
  'place-made',
  'stage-in',
  'place-open',
  'run',
  'sync',
  'stage-out',
  'place-removed',
];

/** Steps at which nothing has run yet: the environment is opened anew. */
const BEFORE: readonly CrashOrder['step'][] = ['place-made', 'stage-in'];

const SCRIPT = 'echo new > made; rm gone; chmod 750 script; ln -s made link; echo made; sleep 1; echo more >> made';

let root = '';
let spec: EnvironmentSpec;
const instance = freshInstance();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-recovery-'));
  const [workdir = '', home = '', scratchpad = '', state = ''] = ['work', 'home', 'tmp', 'state'].map((name) => join(root, name));
  for (const path of [workdir, home, scratchpad, state]) mkdirSync(path);
  for (const name of ['gone', 'script']) writeFileSync(join(workdir, name), 'x');
  spec = sampleEnvironment({ id: `env-${word()}`, workdir, home, scratchpad, brokerSocket: join(root, 'broker.sock') });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = () => ({ kubeconfig: testKubeconfig(), stateDir: join(root, 'state'), instance });

const dieAt = async (step: CrashOrder['step']): Promise<void> => {
  const run = sampleRun({ args: ['-c', SCRIPT], cwd: spec.workdir, runId: 'the-run' });
  const child = spawn(NODE, [CLIENT], { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
  child.stdin.end(JSON.stringify({ ...place(), spec, run, step } satisfies CrashOrder));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error(`it was to die at ${step} and ended with ${code}: ${said}`);
};

const nothingLeft = async (): Promise<void> => {
  expect(await podsOf(instance)).toEqual([]);
  expect(existsSync(join(root, 'state/kubernetes')) ? readdirSync(join(root, 'state/kubernetes')) : []).toEqual([]);
};

describe('a node that dies, with a cluster', () => {
  it.each(STEPS)('killed at %s: what was done is here, and nothing is there any more', async (step) => {
    await dieAt(step);
    const backend = makePodBackend(place());
    const environment = BEFORE.includes(step) ? await backend.open(spec) : await backend.reopen(spec);
    const handle = BEFORE.includes(step) || step === 'place-removed' ? null : await environment.reattach('the-run');
    if (step === 'run') {
      // It went on without the node.
      expect((await handle!.wait()).exitCode).toBe(0);
      await handle!.finish();
    }
    expect(await environment.close()).toEqual({ lost: null });
    const work = BEFORE.includes(step) || step === 'place-open' ? ['gone', 'script'] : ['link', 'made', 'script'];
    expect(readdirSync(spec.workdir).toSorted()).toEqual(work);
    if (work.includes('made')) expect(readFileSync(join(spec.workdir, 'made'), 'utf8')).toBe('new\nmore\n');
    await nothingLeft();
  });

  it.each(['place-made', 'run'] as const)('killed at %s, and nobody comes for it: it is reclaimed', async (step) => {
    await dieAt(step);
    const backend = makePodBackend(place());
    expect(await backend.reclaim([spec.id])).toEqual([]);
    expect(await podsOf(instance)).toHaveLength(1);
    expect(await backend.reclaim([])).toEqual([spec.id]);
    await nothingLeft();
  });
});
