/** Images that are built from a repository, and images that a request names: a real node, Docker's own builder. */
import {
  commitAll,
  importSmallImage,
  startTestEngine,
  testEngineKind,
  whyNoEngine,
  writeFiles,
  type TestEngine,
} from '@orrery/testkit';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OrreryError } from '@orrery/protocol';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { chromium } from './support/chromium.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts } from './support/sessions.ts';
import { barriers, browserOfSuite, letIn, picture } from './support/web.ts';
import { bodiesOf, eventsOf, textOf, waitFor } from './support/wait.ts';

const IMAGE = 'orrery-test/small:1';
/** Another one, of the same files. */
const NAMED = 'orrery-test/named:1';

/** An agent of a shell alone: it answers where it is. */
const talker = `
printf '{"type":"message","message":{"role":"ROLE_AGENT","parts":[{"type":"text","text":"I am here."}]}}\\n'
printf '{"type":"result","text":""}\\n'
`;

const hasPages = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));
const why = testEngineKind() === 'docker' ? whyNoEngine() : 'Podman builds no images of projects';
if (why !== null) process.stderr.write(`SKIPPED: ${why}; nothing here says that images are built, or named.\n`);

describe.skipIf(why !== null)('images that are built, or named', { timeout: 300_000 }, () => {
  const browser = browserOfSuite();
  let engine: TestEngine | null = null;
  beforeAll(async () => {
    engine = await startTestEngine();
    await importSmallImage(engine, IMAGE);
    await importSmallImage(engine, NAMED);
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

  /** Which of the two the container of an environment was made from. */
  const imageOf = async (id: string): Promise<string | undefined> => {
    const all = (await containers()) as { ImageID: string; Labels: Record<string, string> }[];
    const made = all.find(({ Labels }) => Object.values(Labels).includes(id))?.ImageID;
    for (const name of [IMAGE, NAMED])
      if ((JSON.parse((await engine!.ask('GET', `/images/${name}/json`)).text) as { Id: string }).Id === made) return name;
    return made;
  };
  /** A node where one image is allowed and one project has another; a repository of its own, and a pinned one. */
  const naming = async (context: TestContext, allowedImages: readonly string[] = [NAMED]) => {
    const place = placeOfTest(
      {
        execution: {
          ...config().execution,
          allowedImages,
          projectImages: { pinned: IMAGE },
        },
        harness: 'shell',
        harnesses: { shell: { command: ['/bin/sh', '-c', talker], callsModel: false } },
      },
      context,
    );
    const client = place.client(await place.up());
    const repository = makeRepository(place, 'free', { settings: 'image: nobody/allowed:1\n' });
    await client.call('projectAdd', { body: { source: repository } });
    const held = makeRepository(place, 'pinned', { settings: 'image: nobody/allowed:1\n' });
    await client.call('projectAdd', { body: { source: held } });
    return { place, client, repository, held };
  };

  it('an environment of its own keeps the image that was named, also when it is made anew, copied, or found by another node; a copy may name another one', async (context) => {
    const { place, client, repository } = await naming(context, [NAMED, IMAGE]);
    const made = await place.cli(['env', 'create', '--name', 'own', '--image', NAMED, '--json'], { cwd: repository });
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(`"image":"${NAMED}"`)]);
    const { id } = await client.call('environmentShow', { params: { id: 'own' } });
    expect(await imageOf(id)).toBe(NAMED);
    // The project's own image is not allowed: neither tasks nor sessions in it ask for that one.
    const { conduct } = commandsOn(place, () => client);
    expect(verdictOf(await conduct('true', { project: repository, environment: id }))).toEqual(['accepted', null]);
    const copy = await client.call('environmentStop', { params: { id } }).then(async () => {
      await settledEnvironment(client, id);
      return client.call('environmentFork', { params: { id }, body: { name: 'copy' } });
    });
    expect([(await settledEnvironment(client, copy.id)).image, await imageOf(copy.id)]).toEqual([NAMED, NAMED]);
    const other = await place.cli(['env', 'fork', 'own', '--name', 'other', '--image', IMAGE, '--json']);
    const { id: otherId } = await client.call('environmentShow', { params: { id: 'other' } });
    expect([other.code, await imageOf(otherId)]).toEqual([0, IMAGE]);
    const beyond = await place.cli(['env', 'fork', 'own', '--image', 'nobody/allowed:1']);
    expect([beyond.code, beyond.stderr]).toEqual([10, expect.stringContaining('execution.allowedImages')]);
    await client.call('environmentRecreate', { params: { id: copy.id } });
    expect([(await settledEnvironment(client, copy.id)).state, await imageOf(copy.id)]).toEqual(['ready', NAMED]);
    await place.cli(['down']);
    const next = place.client(await place.up());
    await next.call('environmentStart', { params: { id } });
    expect([(await settledEnvironment(next, id)).image, await imageOf(id)]).toEqual([NAMED, NAMED]);
    const shown = await place.cli(['env', 'show', 'own']);
    expect(shown.stdout).toContain(`docker, image ${NAMED}`);
    for (const one of [id, copy.id, otherId])
      await next.call('environmentDelete', { params: { id: one }, query: { salvage: 'true' } });
    await noContainers();
  });

  it('a session talks in the image that was named', async (context) => {
    const { place, client, repository } = await naming(context);
    const options = ['--image', NAMED, '--mode', 'all', '--json'];
    const answer = await place.cli(['session', 'start', 'Where are you?', ...options], { cwd: repository });
    expect([answer.code, answer.stderr]).toEqual([0, expect.anything()]);
    const [session] = (await client.call('sessionList', {})).items;
    const { id, environment } = session!;
    expect(texts(await logOf(client, id))).toEqual(['I am here.']);
    expect((await client.call('environmentShow', { params: { id: environment.id } })).image).toBe(NAMED);
    expect(await imageOf(environment.id)).toBe(NAMED);
    const beside = client.call('sessionCreate', { body: { environment: environment.id, image: NAMED } });
    await expect(beside).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('--image') as unknown });
    await client.call('sessionEnd', { params: { id }, body: {} });
    await sessionIn(client, id, ['ended']);
    await client.call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' } });
    await noContainers();
  });

  it('an image that is not allowed, another one than the pinned, and one on a backend without images are refused as for tasks', async (context) => {
    const { client, repository, held } = await naming(context);
    const refused = async (body: { project: string; image?: string; backend?: string }): Promise<unknown[]> => {
      const attempts = [
        () => client.call('taskAdd', { body: { ...body, prompt: 'x' } }),
        () => client.call('environmentCreate', { body }),
        () => client.call('sessionCreate', { body }),
      ];
      const said: unknown[] = [];
      for (const attempt of attempts)
        said.push(
          await attempt().then(
            () => 'no failure',
            (thrown: OrreryError) => thrown.toLines(),
          ),
        );
      return [...new Set(said.map((one) => JSON.stringify(one)))];
    };
    const said = [
      await refused({ project: repository, image: IMAGE }),
      await refused({ project: held, image: NAMED }),
      await refused({ project: repository, image: NAMED, backend: 'sandbox' }),
    ];
    expect(said.map(({ length }) => length)).toEqual([1, 1, 1]);
    const [beyond, other, without] = said.flat();
    expect(beyond).toContain(`The operator allows ${NAMED} (execution.allowedImages).`);
    expect(other).toContain(`The operator pinned \\"${IMAGE}\\" for this project`);
    expect(without).toContain('the backend sandbox has none');
    expect((await client.call('environmentList', { query: {} })).items).toEqual([]);
    const { id } = await client.call('environmentCreate', { body: { project: held } });
    expect([(await settledEnvironment(client, id)).image, await imageOf(id)]).toEqual([IMAGE, IMAGE]);
    await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' } });
    await noContainers();
  });

  it.skipIf(chromium === null || !hasPages)(
    'the page asks for an image where the backend has images, and nowhere else',
    async (context) => {
      const { place, client } = await naming(context);
      const page = await browser.open();
      await letIn(place, page);
      await page.goto(new URL('/environments/new', page.url()).href);
      const image = page.getByLabel('Image', { exact: true });
      await image.fill(IMAGE);
      await page.getByRole('button', { name: 'Make it' }).click();
      await page.getByRole('alert').getByText('execution.allowedImages').first().waitFor();
      expect(await image.getAttribute('aria-invalid')).toBe('true');
      await picture(page, 'new-environment-image');
      expect(await barriers(page)).toEqual([]);
      await page.getByLabel('Backend').selectOption('local');
      await image.waitFor({ state: 'detached' });
      await page.getByLabel('Backend').selectOption('');
      expect(await image.inputValue()).toBe('');
      await image.fill(NAMED);
      await page.getByRole('button', { name: 'Make it' }).click();
      await page.getByText(NAMED, { exact: true }).waitFor({ timeout: 30_000 });
      const [{ id } = { id: '' }] = (await client.call('environmentList', { query: {} })).items;
      expect([(await settledEnvironment(client, id)).image, await imageOf(id)]).toEqual([NAMED, NAMED]);
      await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' } });
      await noContainers();
      await page.goto(new URL('/sessions/new', page.url()).href);
      await image.waitFor();
    },
  );

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
