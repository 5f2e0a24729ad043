import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { collect } from '../../../test/conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { TEST_IMAGE, podsOf, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import { openCutLine } from '../../../test/kubernetes/cut-line.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import type { Backend, Environment, EnvironmentSpec, RunSpec } from '../backend.ts';
import { kubernetesFactory } from './index.ts';

const INSTANCE = 'environment-test';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const core = (): CoreV1Api => {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig());
  return config.makeApiClient(CoreV1Api);
};

const ourPods = (): Promise<string[]> => podsOf(INSTANCE);

const newStage = (
  more: (root: string) => Record<string, unknown> = () => ({}),
): { readonly root: string; readonly spec: EnvironmentSpec; readonly node: () => Backend } => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-pod-'));
  directories.push(root);
  const spec = sampleEnvironment({
    id: `env_${Math.random().toString(36).slice(2)}`,
    workdir: join(root, 'work'),
    home: join(root, 'home'),
    scratchpad: join(root, 'tmp'),
    brokerSocket: join(root, 'broker.sock'),
    limits: { wallMs: 300_000, outputBytes: 1024 ** 3 },
  });
  for (const path of [spec.workdir, spec.home, spec.scratchpad]) mkdirSync(path);
  const options = {
    kubeconfig: testKubeconfig(),
    image: TEST_IMAGE,
    imagePullPolicy: 'Never',
    instance: INSTANCE,
    ...more(root),
  };
  return { root, spec, node: () => kubernetesFactory(remoteParts(join(root, 'state'))).make(options) };
};

const start = (environment: Environment, script: string, over: Partial<RunSpec> = {}) =>
  environment.start(
    sampleRun({ args: ['-c', script], cwd: environment.workdir, runId: `run-${Math.random().toString(36).slice(2)}`, ...over }),
  );

const run = async (environment: Environment, script: string, over: Partial<RunSpec> = {}) => {
  const handle = await start(environment, script, over);
  await handle.go();
  const [stdout, end] = await Promise.all([collect(handle, 'stdout'), handle.wait()]);
  await handle.finish();
  return { stdout: stdout.toString(), end };
};

describe('an environment in a pod', () => {
  it('has the checkout, runs programs in it without a network, and brings back what they did', async () => {
    const { spec, node } = newStage();
    const at = (path: string): string => join(spec.workdir, path);
    writeFileSync(at('kept'), 'as it was');
    writeFileSync(at('deleted'), 'not for long');
    writeFileSync(at('large'), Buffer.alloc(3_000_000, 'x'));
    symlinkSync('kept', at('link'));
    const environment = await node().open(spec);
    const script = [
      'cat kept; echo; pwd; wc -c < large; rm deleted; mkdir -p new; printf x > new/tool; chmod 755 new/tool; printf after > changed',
      '(exec 3<>/dev/tcp/10.99.0.1/10250) 2>/dev/null && echo reached || echo closed; exit 3',
    ].join('\n');
    const { stdout, end } = await run(environment, script);
    expect([stdout, end.exitCode]).toEqual([`as it was\n${environment.workdir}\n3000000\nclosed\n`, 3]);
    expect(await environment.close()).toEqual({ lost: null });
    expect(readdirSync(spec.workdir).toSorted()).toEqual(['changed', 'kept', 'large', 'link', 'new']);
    expect([statSync(at('new/tool')).mode & 0o777, readFileSync(at('changed'), 'utf8')]).toEqual([0o755, 'after']);
    expect(await ourPods()).toEqual([]);
  });

  it('is found again by another start of the node, its program ran on, and each byte is read once', async () => {
    const { spec, node } = newStage();
    const environment = await node().open(spec);
    const handle = await start(environment, 'for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.5; done; echo bye; exit 5');
    await handle.go();
    const first: Buffer[] = [];
    for await (const { bytes } of handle.output('stdout', 0)) {
      first.push(Buffer.from(bytes));
      break;
    }
    handle.detach();
    const again = await node().reopen(spec);
    const found = await again.reattach(handle.id);
    const offset = Buffer.concat(first).length;
    const rest: Buffer[] = [];
    for await (const { bytes } of found?.output('stdout', offset) ?? []) rest.push(Buffer.from(bytes));
    const end = await found?.wait();
    await found?.finish();
    const lines = Array.from({ length: 8 }, (_, index) => `line ${index + 1}\n`).join('');
    expect([Buffer.concat([...first, ...rest]).toString(), end?.exitCode]).toEqual([`${lines}bye\n`, 5]);
    expect(await again.close()).toEqual({ lost: null });
    expect(await ourPods()).toEqual([]);
  });

  it('whose program the kernel ends for want of memory says so: it reached the memory limit, and what failed otherwise did not', async () => {
    const { spec, node } = newStage(() => ({ memory: '64Mi' }));
    const environment = await node().open(spec);
    const eat = 'x=$(head -c 400000000 /dev/zero | tr "\\0" a); echo ${#x}';
    const fine = await run(environment, 'exit 9');
    expect([fine.end.limit, fine.end.exitCode]).toEqual([null, 9]);
    expect(await run(environment, eat)).toMatchObject({ stdout: '', end: { limit: 'memory', reason: 'limit:memory' } });
    // What was counted before is not held against the next.
    const later = await run(environment, 'kill -9 $$');
    expect([later.end.limit, later.end.signal]).toEqual([null, 'SIGKILL']);
    expect(await environment.close()).toEqual({ lost: null });
  });

  it('whose connection is cut 20 times in the middle of a turn has the output and the input of an uncut one', async () => {
    const configIn = (root: string): string => join(root, 'cut.yaml');
    const { root, spec, node } = newStage((directory) => ({ kubeconfig: configIn(directory) }));
    const line = await openCutLine(configIn(root));
    onTestFinished(() => line.close());
    const environment = await node().open(spec);
    const script = 'n=0; while read line; do n=$((n+1)); echo "$n $line"; echo "e $line" >&2; done; echo bye; exit 5';
    const handle = await start(environment, script, { stdio: 'stream', limits: spec.limits });
    await handle.go();
    const reading = Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
    let cuts = 0;
    for (let round = 1; round <= 20; round += 1) {
      const written = handle.write(`input-${round}`, Buffer.from(`line ${round}\n`));
      if (line.cut() > 0) cuts += 1;
      expect(await written).toEqual({ state: 'written' });
    }
    await handle.closeInput();
    const [stdout, stderr, end] = await reading;
    const lines = Array.from({ length: 20 }, (_, index) => index + 1);
    expect(stdout.toString()).toBe(`${lines.map((n) => `${n} line ${n}\n`).join('')}bye\n`);
    expect(stderr.toString()).toBe(lines.map((n) => `e line ${n}\n`).join(''));
    expect([end.exitCode, cuts]).toEqual([5, 20]);
    await handle.finish();
    expect(await environment.close()).toEqual({ lost: null });
  });

  it('whose pod is deleted under a program says so, and nothing of it is taken for the work', async () => {
    const { spec, node } = newStage();
    writeFileSync(join(spec.workdir, 'kept'), 'as it was');
    const environment = await node().open(spec);
    const handle = await start(environment, 'echo begun; sleep 600');
    await handle.go();
    const [name = ''] = await ourPods();
    await core().deleteNamespacedPod({ namespace: 'default', name, gracePeriodSeconds: 0 });
    await expect(handle.wait()).rejects.toMatchObject({ code: 'keeper_lost' });
    expect(await environment.close()).toEqual({ lost: expect.stringMatching(/pod/i) as string });
    expect(readdirSync(spec.workdir)).toEqual(['kept']);
  });
});
