// Environments on volumes that outlive their pods, on a real cluster with real claims.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../../test/conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { makePodBackend } from '../../../test/kubernetes/backend.ts';
import { deletePods, podsOf, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import { freshInstance } from '../../../test/kubernetes/provider.ts';
import { makeVolumes } from '../../../test/kubernetes/volumes.ts';
import type { TestVolumes } from '../../../test/kubernetes/volumes.ts';
import type { Backend, Environment, EnvironmentSpec } from '../backend.ts';
import { holderOf } from './claim.ts';

let volumes: TestVolumes;
let instance = '';
let root = '';

beforeAll(async () => void (volumes = await makeVolumes(10)));
afterAll(() => volumes?.remove());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-on-volume-'));
  instance = freshInstance();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const specOf = (name: string, given: Partial<EnvironmentSpec> = {}): EnvironmentSpec => {
  const [workdir = '', home = '', scratchpad = ''] = ['work', 'home', 'tmp'].map((part) => join(root, name, part));
  for (const path of [workdir, home, scratchpad]) mkdirSync(path, { recursive: true });
  const brokerSocket = join(root, name, 'broker.sock');
  return sampleEnvironment({
    id: `env_${instance}_${name}`,
    workdir,
    home,
    scratchpad,
    brokerSocket,
    project: 'prj_1',
    limits: { wallMs: 300_000, outputBytes: 1024 ** 3 },
    ...given,
  });
};

const backendOf = (given: Record<string, unknown> = {}): Backend =>
  makePodBackend(
    { kubeconfig: testKubeconfig(), stateDir: join(root, 'state'), instance },
    { ...volumes.options, volume: { ...volumes.options.volume, ...given } },
  );

const start = async (environment: Environment, script: string, runId: string) => {
  const handle = await environment.start(sampleRun({ args: ['-c', script], cwd: environment.workdir, runId }));
  await handle.go();
  return handle;
};

const run = async (environment: Environment, script: string, runId: string): Promise<string> => {
  const handle = await start(environment, script, runId);
  const [stdout] = await Promise.all([collect(handle, 'stdout'), handle.wait()]);
  await handle.finish();
  return stdout.toString();
};

const holders = async (): Promise<(string | null)[]> => (await volumes.claims(instance)).map(holderOf);

describe('an environment on a volume', () => {
  it('that is kept has its files after a stop, what changed here meanwhile too, nothing of its programs, and goes when it is discarded', async () => {
    const backend = backendOf();
    const spec = specOf('kept', { keepsHome: true });
    const at = (path: string): string => join(spec.workdir, path);
    for (const name of ['same', 'other', 'gone']) writeFileSync(at(name), name);
    const first = await backend.open(spec);
    await first.provide('token', Buffer.from('secret'));
    await run(first, 'mkdir -p deep; echo made > deep/file; echo state > "$HOME/state"; echo tmp > "$TMPDIR/tmp"', 'one');
    expect(await first.close()).toEqual({ lost: null });
    expect([await podsOf(instance), await holders(), readFileSync(join(spec.home, 'state'), 'utf8')]).toEqual([
      [],
      [spec.id],
      'state\n',
    ]);
    const [folder = ''] = volumes.folders.filter((one) => existsSync(join(one, 'env')));
    expect(readdirSync(join(folder, 'env')).toSorted()).toEqual(['home', 'tmp', 'work']);
    appendFileSync(at('other'), ' changed');
    rmSync(at('gone'));
    writeFileSync(at('new'), 'new');
    // What nobody touched is not carried a second time.
    const inode = (): number => statSync(join(folder, 'env', 'work', 'same')).ino;
    const before = inode();
    const second = await backend.open(spec);
    const script = 'cat same other new deep/file "$HOME/state" "$TMPDIR/tmp"; ls';
    expect([await run(second, script, 'one'), inode()]).toEqual([
      'sameother changednewmade\nstate\ntmp\ndeep\nnew\nother\nsame\n',
      before,
    ]);
    expect(await second.close()).toEqual({ lost: null });
    // Neither a start of the node nor a look for leftovers takes it; who is not known any more loses it, said before it is done.
    expect(await backend.reclaim([])).toEqual([]);
    const [nobody, known] = [async () => [], async () => [spec.id]];
    expect(await backend.prune?.({ live: nobody, known, dryRun: false })).toEqual([]);
    expect(await backend.prune?.({ live: nobody, known: nobody, dryRun: true })).toEqual([spec.id]);
    expect(await holders()).toEqual([spec.id]);
    await backend.discard?.(spec.id);
    expect(await holders()).toEqual([]);
  });

  it('whose pod is taken away loses its programs and nothing that they did, whoever is there to see it', async () => {
    const backend = backendOf();
    const spec = specOf('lost');
    const environment = await backend.open(spec);
    const handle = await start(environment, 'echo work > made; echo made; exec sleep 600', 'one');
    for await (const { bytes } of handle.output('stdout', 0)) if (Buffer.from(bytes).includes('made')) break;
    await deletePods(instance);
    await expect(handle.wait()).rejects.toMatchObject({ code: 'keeper_lost' });
    expect(await environment.close()).toEqual({ lost: null });
    expect([readdirSync(spec.workdir), await podsOf(instance), await holders()]).toEqual([['made'], [], []]);
    // The same while the node is away, and when nobody comes for it.
    for (const comes of [true, false]) {
      const next = specOf(`away-${String(comes)}`);
      const left = await backend.open(next);
      const going = await start(left, 'echo work > made; echo made; exec sleep 600', 'one');
      for await (const { bytes } of going.output('stdout', 0)) if (Buffer.from(bytes).includes('made')) break;
      backend.detach?.();
      going.detach();
      await deletePods(instance);
      const again = backendOf();
      if (comes) {
        const found = await again.reopen(next);
        const dead = await found.reattach('one');
        expect((await collect(dead!, 'stdout')).toString()).toBe('made\n');
        await expect(dead!.wait()).rejects.toMatchObject({ code: 'keeper_lost' });
        expect(await run(found, 'cat made', 'two')).toBe('work\n');
        expect(await found.close()).toEqual({ lost: null });
        expect(readdirSync(next.workdir)).toEqual(['made']);
      } else {
        expect(await again.reclaim([])).toEqual([next.id]);
        expect(existsSync(join(root, 'state/salvage', `${next.id}.tar`))).toBe(true);
      }
      expect([await podsOf(instance), await holders()]).toEqual([[], []]);
    }
  });

  it('uses the claim that its project has free, emptied; two never have one; the oldest go', async () => {
    const backend = backendOf({ reuse: 'project', keepNumber: 1 });
    const [one, two, other] = [specOf('one'), specOf('two'), specOf('other', { project: 'prj_2' })];
    const first = await backend.open(one);
    await run(first, 'echo secret > "$HOME/secret"; mkdir locked; chmod 000 locked', 'r');
    const [claim] = await volumes.claims(instance);
    const both = await backend.open(two);
    expect(new Set(await holders())).toEqual(new Set([one.id, two.id]));
    expect(await first.close()).toEqual({ lost: null });
    expect(new Set(await holders())).toEqual(new Set([null, two.id]));
    const foreign = await backend.open(other);
    expect(await run(foreign, 'ls -A "$HOME" .', 'r')).not.toContain('secret');
    await foreign.close();
    const next = specOf('next');
    const reused = await backend.open(next);
    const held = (await volumes.claims(instance)).find((one) => holderOf(one) === next.id);
    expect([held?.metadata?.uid, await run(reused, 'ls -A "$HOME" . ..; find .. -name secret', 'r')]).toEqual([
      claim?.metadata?.uid,
      expect.not.stringMatching(/secret|locked/) as string,
    ]);
    // Of two that are given back, the project keeps one.
    await both.close();
    await reused.close();
    const ofProject = (await volumes.claims(instance)).filter(
      ({ metadata }) => metadata?.labels?.['orrery.dev/project'] === held?.metadata?.labels?.['orrery.dev/project'],
    );
    expect([ofProject.length, new Set(await holders())]).toEqual([1, new Set([null])]);
    const nobody = async (): Promise<string[]> => [];
    expect(await backend.prune?.({ live: nobody, known: nobody, dryRun: false })).toHaveLength(2);
    expect(await holders()).toEqual([]);
  });

  it('says why its claim is not bound, and what storage the cluster has, and leaves no claim behind', async () => {
    const spec = specOf('pending', { keepsHome: true });
    const options = { ...volumes.options, startupTimeoutSeconds: 6, volume: { ...volumes.options.volume, size: '2Gi' } };
    const place = { kubeconfig: testKubeconfig(), stateDir: join(root, 'state'), instance };
    await expect(makePodBackend(place, options).open(spec)).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringMatching(/its claim orrery-\w+ \(storage class test-\w+\) is Pending/) as string,
    });
    expect(await holders()).toEqual([]);
    const absent = { ...volumes.options, volume: { storageClass: 'absent' } };
    await expect(makePodBackend(place, absent).preflight([])).rejects.toMatchObject({
      message: expect.stringMatching(/no storage class absent: it has .*test-/) as string,
      fix: expect.stringContaining('storageClass') as string,
    });
    await expect(makePodBackend(place, { workspace: 'volume' }).preflight([])).rejects.toThrow(/no default storage class/);
    await makePodBackend(place, volumes.options).preflight([]);
  });
});
