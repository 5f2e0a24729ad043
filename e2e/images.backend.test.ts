/** Images that are built from a repository: a real node, Docker's own builder. */
import {
  commitAll,
  importSmallImage,
  startTestEngine,
  testEngineKind,
  whyNoEngine,
  writeFiles,
  type TestEngine,
} from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOn, verdictOf } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, textOf, waitFor } from './support/wait.ts';

const IMAGE = 'orrery-test/small:1';

const why = testEngineKind() === 'docker' ? whyNoEngine() : 'Podman builds no images of projects';
if (why !== null) process.stderr.write(`SKIPPED: ${why}; nothing here says that images are built.\n`);

describe.skipIf(why !== null)('images that are built', { timeout: 300_000 }, () => {
  let engine: TestEngine | null = null;
  beforeAll(async () => {
    engine = await startTestEngine();
    await importSmallImage(engine, IMAGE);
  });
  afterAll(async () => {
    await engine?.close();
  });

  const config = () => ({
    execution: { backend: 'docker', options: { docker: { socket: engine!.socket, image: IMAGE } } },
  });
  const containers = async (): Promise<unknown[]> =>
    JSON.parse((await engine!.ask('GET', '/containers/json?all=true')).text) as unknown[];
  const noContainers = (): Promise<true> =>
    waitFor('no container', async () => ((await containers()).length === 0 ? true : null), 60_000);
  const building = (execution: object = {}) => ({
    execution: { ...config().execution, allowBuild: true, allowedImages: ['orrery-test/*'], ...execution },
  });
  const built = async (): Promise<string[]> => {
    const images = JSON.parse((await engine!.ask('GET', '/images/json?all=true')).text) as { RepoTags: string[] | null }[];
    return images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name.startsWith('orrery-build:'));
  };
  const dockerfile = [
    'ARG BASE',
    'FROM $BASE',
    'USER 0:0',
    'COPY made /usr/local/',
    'RUN cat /usr/local/made',
    'USER agent',
  ].join('\n');

  it('a task runs in the image of its base commit, whatever lies in the directory, and shows how it was built', async (context) => {
    const place = placeOfTest(building(), context);
    const life = await place.up();
    const client = place.client(life);
    const settings = `build: {dockerfile: image/Dockerfile, context: image, args: {BASE: "${IMAGE}"}}\n`;
    const repository = makeRepository(place, 'built', { before: 'cat /usr/local/made > before.txt', settings });
    writeFiles(repository, { 'image/Dockerfile': dockerfile, 'image/made': 'committed\n' });
    commitAll(repository, 'an image');
    writeFiles(repository, { 'image/made': 'not committed\n' });
    await client.call('projectAdd', { body: { source: repository } });
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct('cat /usr/local/made before.txt', { project: repository });
    const events = await eventsOf(client, task.id);
    expect([verdictOf(task), textOf(events)]).toEqual([['accepted', null], 'committed\ncommitted\n']);
    const shown = bodiesOf(events, 'stage.output').filter(({ stage }) => stage === 'prepare');
    expect(shown.map(({ text }) => text).join('')).toMatch(/^Building the image orrery-build:[\s\S]*^committed$/m);
    writeFiles(repository, { 'image/Dockerfile': `${dockerfile}\nRUN echo what is wrong; exit 3` });
    commitAll(repository, 'a build that fails');
    const failed = await conduct('true', { project: repository });
    expect(verdictOf(failed)).toEqual(['failed', 'backend']);
    expect(failed.reason).toContain('what is wrong');
    writeFiles(repository, { 'image/Dockerfile': 'FROM debian:12' });
    commitAll(repository, 'an image that is not allowed');
    expect((await conduct('true', { project: repository })).reason).toContain('execution.allowedImages');
    expect(await built()).toHaveLength(1);
    expect((await place.cli(['down', '--prune', '--json'])).code).toBe(0);
    expect([await built(), await containers()]).toEqual([[], []]);
  });

  it('an environment is what its devcontainer.json says; its image is built again when somebody removed it', async (context) => {
    const place = placeOfTest(building(), context);
    const client = place.client(await place.up());
    const devcontainer = {
      build: { dockerfile: 'Dockerfile', args: { BASE: IMAGE } },
      containerEnv: { GIVEN: 'by the file' },
      postCreateCommand: 'echo "$GIVEN, $(cat /usr/local/made)"; echo "$GIVEN" > of-setup',
      forwardPorts: [1],
    };
    const repository = makeRepository(place, 'developed', {
      settings: 'devcontainer: true\nsetup: ["echo then the project"]\n',
    });
    const files = {
      Dockerfile: dockerfile,
      made: 'in the image\n',
      'devcontainer.json': `// why\n${JSON.stringify(devcontainer)}`,
    };
    writeFiles(repository, Object.fromEntries(Object.entries(files).map(([name, text]) => [`.devcontainer/${name}`, text])));
    commitAll(repository, 'a devcontainer');
    await client.call('projectAdd', { body: { source: repository } });
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'dev' } });
    const made = await settledEnvironment(client, id);
    const log = async () => (await client.call('environmentSetupLog', { params: { id }, query: { after: 0 } })).text;
    expect([made.state, made.reason, made.setup.state]).toEqual(['ready', null, 'passed']);
    expect(await log()).toMatch(
      /── image[\s\S]*forwardPorts[\s\S]*Building the image[\s\S]*in the image[\s\S]*by the file, in the image\n[\s\S]*then the project\n/,
    );
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct('cat of-setup; echo "$GIVEN"', { project: repository, environment: id });
    expect(textOf(await eventsOf(client, task.id))).toBe('by the file\nby the file\n');
    await client.call('environmentStop', { params: { id } });
    await settledEnvironment(client, id);
    for (const name of await built()) await engine!.ask('DELETE', `/images/${name}`);
    expect(await built()).toEqual([]);
    await client.call('environmentStart', { params: { id } });
    expect((await settledEnvironment(client, id)).state).toBe('ready');
    expect(await built()).toHaveLength(1);
    await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' } });
    await noContainers();
  });

  it('nothing is built where the operator said nothing of it', async (context) => {
    const place = placeOfTest(building({ allowBuild: false }), context);
    const client = place.client(await place.up());
    const { project, conduct } = commandsOn(place, () => client);
    const before = await built();
    const repository = await project('unbuilt', {}, 'build: {}\n');
    expect((await conduct('true', { project: repository })).reason).toContain('execution.allowBuild');
    expect(await built()).toEqual(before);
  });
});
