/** Whole tasks and environments in pods: a real node and a real cluster, files in the pod and on a volume. */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TEST_IMAGE, deletePods, evictPods, imagesOf, podsOf, testKubeconfig } from '../packages/node/test/kubernetes/cluster.ts';
import { freshInstance } from '../packages/node/test/kubernetes/provider.ts';
import { makeVolumes, type TestVolumes } from '../packages/node/test/kubernetes/volumes.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { describeRemoteEnvironments } from './support/remote-environments.ts';
import { describeRemoteParting, describeRemoteSessions } from './support/remote-sessions.ts';
import { describeRemoteTasks, nothingThere, type RemoteSubject } from './support/remote-tasks.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts } from './support/sessions.ts';
import { printed, taskEnd, waitFor } from './support/wait.ts';

const SERVER = `exec node -e "require('node:net').createServer((s) => s.end('$2')).listen($1, '127.0.0.1')"`;

const configOf = (instance: string, more: object = {}, images: object = {}) => ({
  execution: {
    backend: 'kubernetes',
    options: { kubernetes: { kubeconfig: testKubeconfig(), instance, image: TEST_IMAGE, imagePullPolicy: 'Never', ...more } },
    ...images,
  },
});

/** An image that no machine has: whoever is made from another one was named it. */
const NOBODYS = 'orrery-test/nobody-has:1';

/** A kubeconfig that can be taken away for a while. */
const kubeconfigToTake = () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [path, away] = [join(folder, 'there'), join(folder, 'away')];
  copyFileSync(testKubeconfig(), path);
  return { path, take: () => renameSync(path, away), give: () => renameSync(away, path) };
};

/** Paths of the work that was saved last. */
const savedPaths = async (client: Client): Promise<readonly string[]> => {
  const { items } = await client.call('salvageList', { query: {} });
  const { paths } = await client.call('salvageShow', { params: { id: items[0]?.id ?? '' } });
  return paths.toSorted();
};

/** An environment named `box` of a repository, once it is ready. */
const readyBox = async (client: Client, source: string): Promise<string> => {
  const project = await client.call('projectAdd', { body: { source } });
  const { id } = await client.call('environmentCreate', { body: { project: project.id, name: 'box' } });
  expect(await settledEnvironment(client, id)).toMatchObject({ state: 'ready', reason: null });
  return id;
};

/** Which claims these are. */
const uidsOf = (claims: Awaited<ReturnType<TestVolumes['claims']>>) => claims.map(({ metadata }) => metadata?.uid);

describe('on kubernetes', { timeout: 400_000 }, () => {
  const instance = freshInstance();
  const subject: RemoteSubject = {
    backend: 'kubernetes',
    config: () => configOf(instance),
    there: () => podsOf(instance),
    look: ['id -u', '1000\\n'],
    server: SERVER,
  };
  describeRemoteTasks(subject);
  describeRemoteEnvironments(subject);
  describeRemoteSessions(subject);
  describeRemoteParting(subject, ['claude']);

  // By the kubelet of the cluster itself, for what it finds on its disk: nobody asks for it.
  it('a task whose pod the kubelet evicts for writing more than it may has reached its disk limit, and says what is lost', async (context) => {
    const own = freshInstance();
    const place = placeOfTest(configOf(own, { disk: '32Mi' }), context);
    const client = place.client(await place.up());
    const { project, send } = commandsOn(place, () => client);
    const script = 'echo work > made.txt; head -c 60000000 /dev/zero > "$TMPDIR/full"; echo written; exec sleep 600';
    const id = await send(script, { project: await project('full') });
    await printed(client, id, 'written');
    const task = await taskEnd(client, id, 240_000);
    expect(verdictOf(task)).toEqual(['limit', 'disk']);
    expect(task.reason).toMatch(/Evicted: .*exceeds the .*limits\.diskBytes.* brought back/);
    await nothingThere({ backend: 'kubernetes', there: () => podsOf(own) });
  });
});

/** An agent of a shell alone: it answers where it is. */
const talker = `printf '%s\\n' '${JSON.stringify({
  type: 'message',
  message: { role: 'ROLE_AGENT', parts: [{ type: 'text', text: 'I am here.' }] },
})}' '{"type":"result","text":""}'`;

describe('on kubernetes in images that are named', { timeout: 400_000 }, () => {
  const instance = freshInstance();
  const subject = { backend: 'kubernetes', there: () => podsOf(instance) };
  const configNaming = () => ({
    ...configOf(instance, { image: NOBODYS }, { allowedImages: [TEST_IMAGE] }),
    harness: 'shell',
    harnesses: { shell: { command: ['/bin/sh', '-c', talker], callsModel: false } },
  });

  it('an environment of its own keeps it when it is made anew and copied, a session talks in it, and no other is taken', async (context) => {
    const place = placeOfTest(configNaming(), context);
    const life = await place.up();
    const client = place.client(life);
    const cwd = makeRepository(place, 'named', { init: 'echo init >> "$HOME/runs"' });
    await client.call('projectAdd', { body: { source: cwd } });
    const made = await place.cli(['env', 'create', '--name', 'own', '--image', TEST_IMAGE, '--json'], { cwd });
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(`"image":"${TEST_IMAGE}"`)]);
    expect(await imagesOf(instance)).toEqual([TEST_IMAGE]);
    await client.call('environmentRecreate', { params: { id: 'own' } });
    const { id } = await client.call('environmentShow', { params: { id: 'own' } });
    expect((await settledEnvironment(client, id)).image).toBe(TEST_IMAGE);
    expect((await place.cli(['env', 'exec', 'own', '--', 'sh', '-c', 'echo mine > mine.txt'])).code).toBe(0);
    expect((await place.cli(['env', 'fork', 'own', '--name', 'copy'])).code).toBe(0);
    expect((await place.cli(['env', 'exec', 'copy', '--', 'cat', 'mine.txt'])).stdout).toBe('mine\n');
    const started = await place.cli(['session', 'start', 'Where are you?', '--image', TEST_IMAGE, '--mode', 'all'], { cwd });
    const [session] = (await client.call('sessionList', {})).items;
    expect([started.code, texts(await logOf(client, session?.id ?? ''))]).toEqual([0, ['I am here.']]);
    expect(await imagesOf(instance)).toEqual([TEST_IMAGE, TEST_IMAGE, TEST_IMAGE]);
    const beyond = await place.cli(['env', 'fork', 'own', '--image', NOBODYS]);
    expect([beyond.code, beyond.stderr]).toEqual([10, expect.stringContaining('execution.allowedImages')]);
    await client.call('sessionEnd', { params: { id: session?.id ?? '' }, body: {} });
    await sessionIn(client, session?.id ?? '', ['ended']);
    for (const { id: one } of (await client.call('environmentList', { query: {} })).items)
      await client.call('environmentDelete', { params: { id: one }, query: { salvage: 'true' }, timeoutMs: 120_000 });
    expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
    await nothingThere(subject);
  });
});

describe('on kubernetes with volumes', { timeout: 400_000 }, () => {
  const instance = freshInstance();
  let volumes: TestVolumes;
  beforeAll(async () => void (volumes = await makeVolumes(4)));
  afterAll(() => volumes?.remove());
  const optionsOf = (more: object = {}) => ({ ...volumes.options, image: NOBODYS, ...more });
  const configAllowing = () => configOf(instance, optionsOf(), { allowedImages: [TEST_IMAGE] });
  const configPinned = (more: object) => configOf(instance, optionsOf(more), { projectImages: { 'on-a-volume': TEST_IMAGE } });
  const there = async (): Promise<unknown[]> => [...(await podsOf(instance)), ...(await volumes.claims(instance))];
  const subject = { backend: 'kubernetes', there };

  it('a task in the image it names whose pod is evicted is interrupted and says so, and what it did until then is its result', async (context) => {
    const place = placeOfTest(configAllowing(), context);
    const life = await place.up();
    const client = place.client(life);
    const { project, send } = commandsOn(place, () => client);
    const id = await send('echo work > made.txt; echo made; exec sleep 600', {
      project: await project('taken'),
      image: TEST_IMAGE,
    });
    await printed(client, id, 'made');
    await evictPods(instance);
    const task = await taskEnd(client, id, 240_000);
    expect(verdictOf(task)).toEqual(['interrupted', 'infrastructure']);
    expect(task.reason).toMatch(/evict/i);
    const { files } = await client.call('taskDiff', { params: { id } });
    expect(files.map(({ path, status }) => `${status} ${path}`)).toEqual(['added made.txt']);
    expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
    await nothingThere(subject);
  });

  it('an environment of the image pinned for its project keeps its claim while it is stopped and over a lost pod; delete takes it, and down --prune whatever nobody knows', async (context) => {
    const way = kubeconfigToTake();
    const place = placeOfTest(configPinned({ kubeconfig: way.path }), context);
    let life = await place.up();
    let client = place.client(life);
    const exec = async (script: string): Promise<string> =>
      (await place.cli(['env', 'exec', 'box', '--', 'sh', '-c', script])).stdout;
    const id = await readyBox(client, makeRepository(place, 'on-a-volume', { init: 'echo init >> "$HOME/runs"' }));
    await exec('echo one > one.txt; echo state > "$HOME/state"');
    // Its pod goes while the node is up: the next command finds another one on the same claim.
    await deletePods(instance);
    expect(await exec('cat one.txt "$HOME/state"; echo tmp > "$TMPDIR/tmp"')).toBe('one\nstate\n');
    expect((await place.cli(['env', 'stop', 'box'])).code).toBe(0);
    const claim = uidsOf(await volumes.claims(instance));
    expect([claim.length, await podsOf(instance)]).toEqual([1, []]);
    expect((await place.cli(['down', '--prune', '--json'])).envelope().result).toMatchObject({
      pruned: expect.arrayContaining([{ backend: 'kubernetes', removed: [], problem: null }]) as unknown,
    });
    life = await place.up();
    client = place.client(life);
    expect((await place.cli(['env', 'start', 'box'])).code).toBe(0);
    expect(await exec('cat one.txt "$HOME/state" "$TMPDIR/tmp"; echo two > two.txt')).toBe('one\nstate\ntmp\n');
    // The pod goes while the node is away, and the next start finds no way to the cluster: the environment stays what it is,
    // the start does not wait, and once the way is back the environment is there, on the same claim.
    await life.kill();
    await deletePods(instance);
    way.take();
    life = await place.up();
    client = place.client(life);
    expect(await client.call('environmentShow', { params: { id } })).toMatchObject({ state: 'ready', reason: null });
    way.give();
    const seen = await waitFor(
      'the files',
      async () => ((await exec('cat two.txt "$HOME/state"')) === 'two\nstate\n' ? true : null),
      120_000,
    );
    expect([seen, uidsOf(await volumes.claims(instance))]).toEqual([true, claim]);
    expect((await place.cli(['env', 'delete', 'box', '--salvage'])).code).toBe(0);
    await nothingThere(subject);
    expect(await savedPaths(client)).toEqual(['one.txt', 'two.txt']);
  });
});
