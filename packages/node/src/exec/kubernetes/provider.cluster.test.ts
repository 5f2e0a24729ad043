import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TEST_IMAGE, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import { systemClock } from '../../kernel/clock.ts';
import { runInPlace } from '../remote/command.ts';
import type { Place, PlaceProvider, PlaceSpec } from '../remote/place.ts';
import { openCluster } from './cluster.ts';
import { kubernetesOptions } from './options.ts';
import { createPodPlaces } from './provider.ts';

const spec = (environmentId: string, given: Partial<PlaceSpec> = {}): PlaceSpec => ({
  environmentId,
  taskId: 'tsk_1',
  installation: 'inst_1',
  image: null,
  keeps: false,
  project: null,
  limits: {},
  mountable: [],
  ...given,
});

const providerOf = (given: Record<string, unknown> = {}, installation = 'inst_1'): PlaceProvider => {
  const options = kubernetesOptions.parse({
    kubeconfig: testKubeconfig(),
    image: TEST_IMAGE,
    imagePullPolicy: 'Never',
    startupTimeoutSeconds: 120,
    ...given,
  });
  return createPodPlaces({ options, installation, cluster: () => Promise.resolve(openCluster(options)), clock: systemClock });
};

const core = (): CoreV1Api => {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig());
  return config.makeApiClient(CoreV1Api);
};

const text = (bytes: Buffer): string => bytes.toString('utf8');
let directory: string;

beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'orrery-pods-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('a pod as a place', () => {
  let place: Place;
  const provider = providerOf();

  beforeAll(async () => void (place = await provider.create(spec('env_life'), () => undefined)));
  afterAll(() => place.remove());

  it('runs commands as a user that is not root, with exit codes, both outputs and input', async () => {
    const said = await runInPlace(place, ['sh', '-c', 'id -u; echo wrong >&2; exit 7']);
    expect({ ...said, stdout: text(said.stdout), stderr: said.stderr.trim() }).toEqual({
      exitCode: 7,
      stdout: '1000\n',
      stderr: 'wrong',
    });
    const bytes = Buffer.alloc(300_000, 'x');
    expect(text((await runInPlace(place, ['wc', '-c'], { stdin: bytes })).stdout).trim()).toBe('300000');
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('c')]);
    expect(text((await runInPlace(place, ['wc', '-c'], { stdin: stream })).stdout).trim()).toBe('3');
  });

  it('brings ten megabytes whole, and nothing is taken for an end that is not one', async () => {
    const sum = await runInPlace(place, ['sh', '-c', 'head -c 10000000 /dev/zero | tr "\\0" "a"']);
    expect([sum.exitCode, sum.stdout.length, sum.stdout.every((byte) => byte === 97)]).toEqual([0, 10_000_000, true]);
  });

  it('holds back what nobody reads, and drops a command whose view is dropped', async () => {
    const command = await place.exec({ argv: ['sh', '-c', 'yes'], timeoutMs: null });
    await new Promise((resolve) => command.stdio.once('readable', resolve));
    expect(command.stdio.readableLength).toBeLessThan(1_000_000);
    command.close();
    expect(await command.ended).toHaveProperty('lost');
  });

  it('is the same one for the same environment, and found again by what was recorded', async () => {
    const again = await provider.create(spec('env_life'), () => undefined);
    const found = await provider.find('env_life', place.ref);
    expect([again.ref, found?.ref, await provider.find('env_life', { ...place.ref, uid: 'another' })]).toEqual([
      place.ref,
      place.ref,
      null,
    ]);
  });

  it('has no token of the cluster', async () => {
    const said = await runInPlace(place, ['sh', '-c', 'ls /var/run/secrets /run/secrets 2>/dev/null || true']);
    expect(text(said.stdout)).toBe('');
  });
});

describe('a pod that does not start', () => {
  it('says that its image is not there, and is taken away', async () => {
    const provider = providerOf({ image: 'docker.io/local/absent:1' });
    await expect(provider.create(spec('env_image'), () => undefined)).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringContaining('ErrImageNeverPull') as string,
    });
    await expect.poll(() => provider.list(), { timeout: 60_000, interval: 500 }).not.toContain('env_image');
  });

  it('says that no machine of the cluster has room for it', async () => {
    const provider = providerOf({ startupTimeoutSeconds: 8 });
    const lines: string[] = [];
    const failed = provider.create(spec('env_room', { limits: { memoryBytes: 2 ** 45 } }), (line) => lines.push(line));
    await expect(failed).rejects.toThrow(/Unschedulable|Insufficient memory/);
    expect(lines.join('\n')).toMatch(/Unschedulable|Insufficient memory/);
  });

  it("waits for room in the namespace and says that there is none, in the quota's words", async () => {
    const api = core();
    const namespace = 'orrery-quota';
    await api.createNamespace({ body: { metadata: { name: namespace } } }).catch(() => undefined);
    await api.createNamespacedResourceQuota({ namespace, body: { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } } });
    // The cluster enforces a quota once it has counted.
    await expect
      .poll(async () => (await api.readNamespacedResourceQuota({ namespace, name: 'none' })).status?.hard, { timeout: 60_000 })
      .toBeDefined();
    const lines: string[] = [];
    const failed = providerOf({ namespace, quotaWaitSeconds: 1 }).create(spec('env_quota'), (line) => lines.push(line));
    await expect(failed).rejects.toThrow(/no room in the namespace: .*exceeded quota/);
    expect(lines.join('\n')).toContain('waits for room');
    await api.deleteNamespace({ name: namespace });
  });
});

describe('gone is not the same as cannot tell', () => {
  const opened: Place[] = [];
  afterEach(async () => {
    for (const place of opened.splice(0)) await place.remove();
  });

  it('a deleted pod is gone; behind a dead line nobody can tell', async () => {
    const provider = providerOf();
    const place = await provider.create(spec('env_gone'), () => undefined);
    opened.push(place);
    const dead = join(directory, 'dead.yaml');
    writeFileSync(dead, readFileSync(testKubeconfig(), 'utf8').replace(/server: .*/, 'server: https://127.0.0.1:9'));
    const cut = providerOf({ kubeconfig: dead });
    await expect(cut.find('env_gone', place.ref)).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(cut.list()).rejects.toMatchObject({ code: 'backend_unreachable' });
    expect(await place.state()).toEqual({ state: 'running' });
    await core().deleteNamespacedPod({ namespace: 'default', name: place.ref['name'] ?? '', gracePeriodSeconds: 0 });
    await expect.poll(async () => (await place.state()).state, { timeout: 60_000 }).toBe('gone');
    expect(await place.explain()).toMatch(/The pod (was deleted|ended)/);
  });

  it('only pods of this installation are listed and swept', async () => {
    const [ours, theirs] = [providerOf({}, 'inst_a'), providerOf({}, 'inst_b')];
    opened.push(await ours.create(spec('env_shared'), () => undefined), await theirs.create(spec('env_shared'), () => undefined));
    await ours.sweep('env_shared');
    expect([await ours.list(), await theirs.list()]).toEqual([[], ['env_shared']]);
  });
});

it('lacking rights are named all at once', async () => {
  const nobody = join(directory, 'nobody.yaml');
  writeFileSync(
    nobody,
    readFileSync(testKubeconfig(), 'utf8').replace(/(\n\s*)client-certificate-data:/, '$1as: nobody$1client-certificate-data:'),
  );
  await expect(providerOf({ kubeconfig: nobody }).preflight()).rejects.toThrow(
    /create pods, get pods, list pods, delete pods, create pods\/exec/,
  );
  await providerOf().preflight();
});
