/** What a person makes in the web client: a first session, a task, environments; on a real node, in a real browser. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import { gitIn } from '@orrery/testkit';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { chromium } from './support/chromium.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { sessionIn } from './support/sessions.ts';
import { scrolledLog, scrollLog, talkerOf, toBeginning } from './support/talker.ts';
import { partsByButton } from './support/web-session.ts';
import { addsARule, decidesWhatWaits, ruled, showsTheRules } from './support/web-policies.ts';
import { fitsAFinger, looksAtATask, mended } from './support/web-tasks.ts';
import { barriers, browserOfSuite, letIn, picture, pictures, pushed } from './support/web.ts';

/** A red one, of one pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const built = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));
describe.skipIf(chromium === null || !built || !isThere('claude'))('making things in the page', { timeout: 240_000 }, () => {
  const place = placeOfSuite();
  const browser = browserOfSuite();
  let client: Client;
  let repository: string;
  let page: Page;

  beforeAll(async () => {
    const model = await modelOfSuite(
      scriptsOf({
        first: [{ text: 'Here I am.' }, { text: `I saw it: ${'red '.repeat(60)}dot.`, chunk_ms: 100 }],
        task: mended,
        rule: ruled,
      }),
    );
    place.configure(configFor(model, { harness: 'claude', harnesses: talkerOf(place.folder, 900) }));
    await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
    client = place.client(await place.up());
    repository = makeRepository(place, 'site', { init: 'echo "set up here"', validation: 'test -e made.txt' });
    page = await browser.open();
    await letIn(place, page);
  });

  it('a node with nothing leads to a first session: a repository, an agent, words', async () => {
    await page.getByText('Nothing waits for you.').waitFor();
    await page.keyboard.press('N');
    await page.getByText('It becomes your first project.').waitFor();
    await page.getByLabel('Repository').fill(`${place.folder}/nothing-here`);
    await page.getByRole('button', { name: 'Begin' }).click();
    const field = page.locator('div', { has: page.locator('> label', { hasText: 'Repository' }) });
    await field.getByRole('alert').waitFor();
    expect(await page.getByLabel('Repository').getAttribute('aria-invalid')).toBe('true');
    await picture(page, 'new-session');
    expect(await barriers(page)).toEqual([]);
    await page.getByLabel('Repository').fill(repository);
    await page.getByLabel('What is to be done').fill('Say where you are. [first]');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByText('Here I am.').waitFor({ timeout: 60_000 });
    expect((await client.call('projectList', { query: {} })).items.map(({ source }) => source)).toEqual([repository]);
  });

  it('an image goes with an input and stands in the transcript; commands are listed, and the mode is changed in place', async () => {
    const words = page.getByLabel('Message');
    await page.locator('input[type="file"]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: DOT });
    await page.getByRole('list', { name: 'Files that go with it' }).getByText('dot.png').waitFor();
    await words.fill('What is this?');
    await words.press('Enter');
    // Seen while it is written, before anything of it is stored.
    await page.getByText(/^I saw it: red/).waitFor({ timeout: 60_000 });
    const [{ id } = { id: '' }] = (await client.call('sessionList', {})).items;
    const stored = await client.call('sessionRows', { params: { id }, query: {} });
    expect(JSON.stringify(stored.items)).not.toContain('I saw it');
    await page.getByText(/red dot\.$/).waitFor({ timeout: 60_000 });
    expect(await page.getByText(/^I saw it/).count()).toBe(1);
    await page.getByRole('button', { name: 'dot.png, in its own size' }).locator('img').waitFor();
    expect(await page.evaluate(`document.querySelector('[role="log"] img').naturalWidth`)).toBe(1);
    await picture(page, 'session-image');
    expect(await barriers(page)).toEqual([]);
    await words.fill('/');
    await page.getByRole('listbox', { name: 'Commands' }).getByRole('option').first().waitFor();
    await words.fill('');
    await page.locator('label', { hasText: /^mode/ }).locator('select').selectOption('edits');
    const modes = async () => (await client.call('sessionList', {})).items.map(({ mode }) => mode);
    await expect.poll(modes).toEqual(['edits']);
    await page.getByRole('log').focus();
  });

  it('another session parts by a button, with the memory of its program', async () => {
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await partsByButton(page, client, { said: 'Here I am.', record: false });
    await picture(page, 'session-fork');
    await page.getByRole('log').focus();
  });

  it('a task is given; what happens in it is seen, a check that fails and then passes, and it is put aside in the Inbox', async () => {
    await page.keyboard.press('T');
    await page.getByText("The repository's own script checks the result").waitFor();
    expect(await page.getByRole('button', { name: 'Give it' }).isDisabled()).toBe(true);
    await page.getByLabel('What is to be done').fill('Make it. [task]');
    await looksAtATask(page);
  });

  it('a rule is shown where something is asked, added by the owner, and the next same command is not asked', async () => {
    const body = { project: repository, prompt: 'Do it. [rule]' };
    const scene = { place, client, page, begin: () => client.call('sessionCreate', { body }) };
    await addsARule({ ...scene, looker: await browser.open() });
    await showsTheRules({ page });
    await decidesWhatWaits(scene);
  });

  it('an environment is made, set up in sight, renamed, copied, stopped and deleted', async () => {
    await page.getByRole('link', { name: 'Environments' }).click();
    await page.getByRole('region', { name: 'site' }).getByRole('link', { name: 'New environment' }).click();
    await page.getByLabel('Base').fill('no-such-branch');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Base').fill('');
    await page.getByLabel('Name').fill('box');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('heading', { name: 'box', exact: true }).waitFor();
    await page.getByLabel('Log of the set-up').getByText('set up here').waitFor({ timeout: 30_000 });
    await page.getByText('passed').waitFor();
    await picture(page, 'environment');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('crate');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'crate' }).waitFor();
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.getByText('copied from').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Environments' }).click();
    await page.getByRole('link', { name: 'crate', exact: true }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByText('Its files and home go.').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('link', { name: 'New environment' }).waitFor();
    await page.getByRole('link', { name: 'crate', exact: true }).waitFor({ state: 'detached' });
  });

  it('what only an environment holds keeps it until it is saved', async () => {
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'kept' } });
    await page.goto(page.url().replace(/\/environments.*/, `/environments/${id}`));
    await page.getByText('passed').waitFor({ timeout: 30_000 });
    expect((await place.cli(['env', 'exec', 'kept', '--', 'sh', '-c', 'echo mine > mine.txt'])).code).toBe(0);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Save that work, then delete' }).click({ timeout: 30_000 });
    await page.getByRole('link', { name: 'New environment' }).waitFor({ timeout: 30_000 });
    expect((await client.call('salvageList', { query: {} })).items).toHaveLength(1);
  });

  it('saved work is brought back as a branch; what models took, who did what and who is let in stand in their pages', async () => {
    await page.getByRole('link', { name: 'Node', exact: true }).first().click();
    await page.getByRole('link', { name: 'Saved work' }).click();
    await page.getByText('site').first().click();
    await page.getByText('mine.txt').waitFor();
    await page.getByLabel('Branch').fill('rescued');
    await page.getByRole('button', { name: 'Bring it back as a branch' }).click();
    await page.getByText('it is on rescued').waitFor();
    expect(gitIn(repository, 'show', 'rescued:mine.txt')).toContain('mine');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page
      .getByRole('row', { name: /claude/ })
      .first()
      .waitFor();
    await picture(page, 'usage');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Action').fill('token');
    await page.getByRole('list', { name: 'Records' }).getByText('token.create').first().waitFor();
    await page.getByLabel('Action').fill('no-such-action');
    await page.getByText('Nothing of that kind is on record.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Access' }).click();
    const browsers = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem').filter({ hasText: 'browser' });
    await browsers.first().waitFor();
    await picture(page, 'access');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Words').fill('queue.parallel');
    await page.getByRole('list', { name: 'Settings' }).getByText('Tasks at once').waitFor();
    await picture(page, 'settings');
    expect(await barriers(page)).toEqual([]);
    const audited = await place.cli(['audit', '--action', 'token', '--json']);
    expect(audited.code).toBe(0);
  });

  it('a browser is told by push: its worker shows a message, and what a service answers stands in the page', async () => {
    await page.context().grantPermissions(['notifications']);
    await page.goto(new URL('/', page.url()).href);
    const keys = {
      p256dh: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
      auth: 'tBHItJI5svbpez7KI4CCXg',
    };
    await client.call('pushAdd', { body: { endpoint: 'https://192.0.2.1/x', keys } });
    const pushes = page.getByRole('region', { name: 'Push' });
    await page.reload();
    await pushes.getByRole('button', { name: 'Try it' }).click();
    await pushes.getByText(/✗ .*private network/).waitFor();
    expect(await barriers(page)).toEqual([]);
    await pushes.getByRole('button', { name: 'Tell it no more' }).click();
    await pushes.getByRole('listitem').waitFor({ state: 'detached' });
    expect(await pushed(page, JSON.stringify({ title: 'site-1 needs you' }))).toEqual(['site-1 needs you']);
    expect(await pushed(page, 'garbage')).toContain('Something needs you');
  });

  it('a program that a person attached stands among the sessions while it lives, and leads nowhere', async () => {
    const program = '<b>claude-code</b> 2.1';
    const { id } = await client.call('attachedBegin', { body: { name: 'desk', program, folder: '/home/ann/site' } });
    await page.goto(new URL('/sessions', page.url()).href);
    const row = page.getByRole('listitem').filter({ hasText: 'desk' });
    await row.getByText(`${program} · /home/ann/site`).waitFor();
    expect([await row.getByText('attached').count(), await row.getByRole('link').count()]).toEqual([1, 0]);
    expect(await barriers(page)).toEqual([]);
    await page.goto(new URL('/sessions/desk', page.url()).href);
    await page.getByText('was started outside Orrery').first().waitFor();
    await page.goto(new URL('/sessions', page.url()).href);
    await row.waitFor();
    await client.call('attachedEnd', { params: { id }, body: {} });
    await row.waitFor({ state: 'detached' });
  });

  it('a long conversation opens at its end, and what was before comes when one goes there, without a jump', async () => {
    const { id } = await client.call('sessionCreate', {
      body: { project: repository, harness: 'talker', mode: 'all', prompt: 'Talk.' },
    });
    await sessionIn(client, id, ['idle', 'dormant']);
    const asked: string[] = [];
    page.on('request', (request) => void (request.url().includes(`/${id}/rows`) && asked.push(request.url())));
    await page.goto(new URL(`/sessions/${id}`, page.url()).href);
    await page.getByText('line 900', { exact: true }).waitFor();
    expect([asked.length, await page.getByText('line 1', { exact: true }).count()]).toEqual([1, 0]);
    await scrollLog(page, 40);
    await expect.poll(() => scrolledLog(page), { timeout: 20_000 }).toBeGreaterThan(5_000);
    // It may be drawn after the scroll position is set.
    await page.getByText('line 702', { exact: true }).waitFor({ timeout: 5_000 });
    await toBeginning(page);
    await page.getByRole('log').getByText('Talk.', { exact: true }).waitFor();
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('the button says that a fork begins with a record where the program cannot go on from a place', async () => {
    await partsByButton(page, client, { said: 'line 900', record: true });
  });

  it('the pages fit a phone', async () => {
    const [task] = (await client.call('taskList', { query: {} })).items;
    await pictures(page, { environments: '/environments', tasks: '/tasks', task: `/tasks/${task!.id}` });
    await page.goto(new URL('/tasks', page.url()).href);
    await page.getByRole('link', { name: 'Make it. [task]' }).waitFor();
    for (const key of ['k', 'j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Make it. [task]' }).waitFor();
    await pictures(page, { agents: '/agents', backends: '/backends', salvage: '/salvage', audit: '/audit', node: '/node' });
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of [
      '/environments',
      '/environments/new',
      '/sessions/new',
      '/tasks/new',
      '/usage',
      '/salvage',
      '/audit',
      '/access',
      '/settings',
      '/policies',
    ]) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      await picture(page, `phone${path.replaceAll('/', '-')}`);
      expect(await barriers(page)).toEqual([]);
    }
    const touched = await browser.open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await letIn(place, touched);
    for (const path of ['/', '/sessions', '/environments', '/policies'])
      await fitsAFinger(touched, new URL(path, page.url()).href);
  });
});
