/** Pull requests from the command line to a code host that takes real pushes, on a real node and in the real sandbox. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { PullRequestOpened } from '@orrery/protocol';
import { gitIn, startCodeHost, type TestCodeHost } from '@orrery/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CliAnswer } from './support/cli.ts';
import { chromium } from './support/chromium.ts';
import { commandsOn } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { processesOf } from './support/process-tree.ts';
import { waitFor } from './support/wait.ts';
import type { Life } from './support/life.ts';
import { barriers, browserOfSuite, letIn, picture } from './support/web.ts';

const TOKEN = 'ghp_end2endS3cret000000000000000000000000';
const site = 'acme/site';
const built = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));
const place = placeOfSuite();
const browser = browserOfSuite();
let host: TestCodeHost;
let life: Life;
let client: Client;
let repository = '';

beforeAll(async () => {
  const root = join(place.folder, 'host');
  mkdirSync(root);
  host = await startCodeHost({ root, token: TOKEN });
  place.configure({ codehosts: { local: { url: host.api } } });
  life = await place.up();
  client = place.client(life);
  repository = makeRepository(place, 'site', { validation: 'test -f made.txt' });
  gitIn(repository, 'remote', 'add', 'origin', host.add(site, repository));
});
afterAll(() => host.stop());

const { run } = commandsOn(place, () => client);
const openedBy = (answer: CliAnswer): PullRequestOpened => answer.envelope().result as unknown as PullRequestOpened;

it('the result of a task becomes one pull request, and says what is missing before', async () => {
  const answer = await run(repository, 'echo made > made.txt; echo noise > noise.txt');
  const { id } = (answer.envelope().result as { task: { id: string } }).task;
  const missing = await place.cli(['task', 'pr', id]);
  expect([missing.code, missing.stderr.trim().split('\n')]).toEqual([
    2,
    [
      expect.stringContaining('The code host local has no token: the secret "local" is not set.'),
      expect.stringContaining('with a token of the operator’s'),
      expect.stringContaining('orrery secret set local'),
    ],
  ]);
  await place.cli(['secret', 'set', 'local'], { input: `${TOKEN}\n` });
  const opened = openedBy(await place.cli(['task', 'pr', id, '--json']));
  expect(opened).toMatchObject({ outcome: 'opened', pullRequest: { number: 1, state: 'open', base: 'main' } });
  const branch = `orrery/${id}`;
  expect(host.git(site, 'show', `${branch}:made.txt`)).toBe('made');
  expect(host.pulls(site)).toMatchObject([{ head: branch, base: 'main', title: 'a prompt' }]);
  expect(host.pulls(site)[0]?.body).toMatch(/Validation by the project’s own script: passed\./);
  expect(openedBy(await place.cli(['task', 'pr', id, '--json'])).outcome).toBe('unchanged');
  expect(openedBy(await place.cli(['task', 'pr', id, '--without', 'noise.txt', '--json'])).outcome).toBe('updated');
  expect(host.git(site, 'diff', '--name-only', 'main', branch)).toBe('made.txt');
  expect(host.pulls(site)).toHaveLength(1);
  const shown = await place.cli(['task', 'show', id]);
  expect(shown.stdout).toContain(`#1 open  ${host.origin}/${site}/pull/1`);
  const { pullRequest, host: where } = await client.call('taskPullRequest', { params: { id } });
  expect([pullRequest?.number, where]).toEqual([1, { name: 'local', repository: site }]);
});

it('what an environment holds becomes one, and goes on with what is done there', async () => {
  const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'fix' } });
  const { workdir, branch } = await settledEnvironment(client, id);
  const nothing = await place.cli(['env', 'pr', 'fix']);
  expect([nothing.code, nothing.stderr]).toEqual([8, expect.stringContaining('Nothing was changed')]);
  writeFileSync(join(workdir ?? '', 'new.txt'), 'one\n');
  const first = openedBy(await place.cli(['env', 'pr', 'fix', '--title', 'A fix', '--draft', '--json']));
  expect(first).toMatchObject({ outcome: 'opened', pullRequest: { title: 'A fix', draft: true, branch } });
  expect(openedBy(await place.cli(['env', 'pr', 'fix', '--json'])).outcome).toBe('unchanged');
  writeFileSync(join(workdir ?? '', 'new.txt'), 'two\n');
  const second = openedBy(await place.cli(['env', 'pr', 'fix', '--json']));
  expect([second.outcome, second.pullRequest.number]).toEqual(['updated', first.pullRequest.number]);
  expect(host.git(site, 'show', `${branch}:new.txt`)).toBe('two');
  // Files that nobody committed go on top of what was pushed: no view of the branch is replaced.
  expect(host.git(site, 'rev-parse', `${branch}^`)).toBe(first.pullRequest.headSha);
  expect((await place.cli(['env', 'show', 'fix'])).stdout).toContain(`#${first.pullRequest.number} open (draft)`);
  expect(gitIn(repository, 'branch', '--list', 'orrery/*')).toBe('');
  const log = readFileSync(join(place.folder, 'data/logs/node.log'), 'utf8');
  expect(log).not.toContain(TOKEN);
});

it.skipIf(chromium === null || !built)(
  'a person opens one in the page, sees what is missing before, and what became of it',
  { timeout: 120_000 },
  async () => {
    const answer = await run(repository, 'echo made > made.txt; echo page > page.txt');
    const { id } = (answer.envelope().result as { task: { id: string } }).task;
    await place.cli(['secret', 'remove', 'local']);
    const page = await browser.open();
    await letIn(place, page);
    const url = page.url().replace(/(https?:\/\/[^/]+).*/, '$1');
    await page.goto(`${url}/tasks/${id}/changes`);
    const part = page.getByRole('region', { name: 'Pull request' });
    await part.getByText('The code host local has no token').waitFor();
    await part.getByText('orrery secret set local').waitFor();
    expect(await part.getByRole('button', { name: 'Open pull request …' }).isDisabled()).toBe(true);
    await picture(page, 'pull-request-missing');
    await place.cli(['secret', 'set', 'local'], { input: TOKEN });
    await part.getByRole('button', { name: 'Look again' }).click();
    await part.getByRole('button', { name: 'Open pull request …' }).and(page.locator(':enabled')).waitFor();
    await page.locator('body').press('P');
    await part.getByLabel('Title').fill('From the page');
    await part.getByLabel('as a draft').check();
    await picture(page, 'pull-request-form');
    expect(await barriers(page)).toEqual([]);
    await part.getByRole('button', { name: 'Open pull request', exact: true }).click();
    const link = part.getByRole('link', { name: /From the page/ });
    await link.waitFor();
    const made = host.pulls(site).at(-1);
    expect(made).toMatchObject({ title: 'From the page', draft: true, head: `orrery/${id}`, base: 'main' });
    expect(await link.getAttribute('href')).toBe(`${host.origin}/${site}/pull/${made?.number}`);
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
    await part.getByText('open, a draft').waitFor();
    await picture(page, 'pull-request');
    await part.getByRole('button', { name: 'Push what is there now' }).click();
    await part.getByText('✓ unchanged.').waitFor();
    await page.goto(`${url}/tasks/${id}`);
    await part.getByRole('link', { name: /From the page/ }).waitFor();
    await part.getByText('It is a draft').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${url}/environments/fix`);
    await part.getByRole('link', { name: /A fix/ }).waitFor();
  },
);

it.skipIf(chromium === null || !built)(
  'a person sees the checks of the code host beside the pull request, and has it merged there',
  { timeout: 120_000 },
  async () => {
    const answer = await run(repository, 'echo made > made.txt; echo merge > merge.txt');
    const { id } = (answer.envelope().result as { task: { id: string } }).task;
    expect((await place.cli(['task', 'pr', id])).code).toBe(0);
    host.check(site, `orrery/${id}`, { name: 'unit tests', kind: 'run', conclusion: 'success' });
    host.check(site, `orrery/${id}`, { name: 'lint', kind: 'status', conclusion: 'failure' });
    const page = await browser.open();
    await letIn(place, page);
    await page.getByRole('listitem').filter({ hasText: 'is open.' }).first().waitFor();
    await page.goto(new URL(`/tasks/${id}/changes`, page.url()).href);
    const part = page.getByRole('region', { name: 'Pull request' });
    await part.getByText('checks failed: 2').waitFor();
    const first = part.getByRole('list', { name: 'Checks of the code host' }).getByRole('listitem').first();
    expect(await first.innerText()).toMatch(/failed lint/);
    await picture(page, 'pull-request-checks');
    expect(await barriers(page)).toEqual([]);
    await part.getByRole('button', { name: 'Merge …' }).click();
    await part.getByText(/goes into main; checks failed\./).waitFor();
    await part.getByRole('button', { name: 'Merge', exact: true }).click();
    await part.getByText('✓ merged').waitFor();
    expect(host.git(site, 'show', 'main:merge.txt')).toBe('merge');
    const again = await place.cli(['task', 'merge', id]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('was merged already')]);
  },
);

it.each([
  ['holds-push', 'git-receive-pack'],
  ['holds-create', '/pulls'],
] as const)(
  'a node that is killed while its host %s opens one all the same, once; nothing that runs shows the token',
  async (fault, asks) => {
    const answer = await run(repository, `echo made > made.txt; echo ${fault} > ${fault}.txt`);
    const { id } = (answer.envelope().result as { task: { id: string } }).task;
    await place.cli(['secret', 'set', 'local'], { input: TOKEN });
    const opened = (): number => host.pulls(site).filter(({ head }) => head === `orrery/${id}`).length;
    host.behave(fault, 1);
    const from = host.asked.length;
    const cut = place.cli(['task', 'pr', id, '--json', '--request-id', `cut-${fault}`]);
    await waitFor('the host is asked', async () =>
      host.asked.slice(from).some((line) => line.startsWith('POST') && line.endsWith(asks)) ? true : null,
    );
    for (const shown of [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')])
      expect(processesOf(shown)).toEqual([]);
    await waitFor('it did what it was asked', async () =>
      (fault === 'holds-create' ? opened() === 1 : host.git(site, 'branch', '--list', `orrery/${id}`) !== '') ? true : null,
    );
    await life.kill();
    expect((await cut).code).toBe(7);
    life = await place.up();
    client = place.client(life);
    expect((await client.call('taskShow', { params: { id } })).pullRequest).toMatchObject({
      ...{ number: null, state: fault === 'holds-push' ? 'pushing' : 'creating' },
    });
    const again = openedBy(await place.cli(['task', 'pr', id, '--json', '--request-id', `cut-${fault}`]));
    expect([again.outcome, again.replayed, again.pullRequest.state, opened()]).toEqual(['opened', false, 'open', 1]);
  },
);
