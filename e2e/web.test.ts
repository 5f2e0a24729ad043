/** The web client in a real browser: on a real node, with a real agent program and the scripted model. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import { commitAll, gitIn, writeFiles } from '@orrery/testkit';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { chromium } from './support/chromium.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { sessionIn, turnOver } from './support/sessions.ts';
import { taskEnd } from './support/wait.ts';
import { changing, colour, editing, fitsAPhone, hostile, numbers } from './support/web-changes.ts';
import { disguised, drawsThePicture, picturing, showsWhatNobodySees } from './support/web-seen.ts';
import { changesTheQueue, goesBackAndForth } from './support/web-session.ts';
import { answeredAt, barriers, browserOfSuite, letIn, picture } from './support/web.ts';

const built = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));
describe.skipIf(chromium === null || !built || !isThere('claude'))('the web client', { timeout: 240_000 }, () => {
  const place = placeOfSuite();
  const browser = browserOfSuite();
  let life: Life;
  let client: Client;
  let repository: string;
  let reviewed: { readonly id: string; readonly page: Page };

  beforeAll(async () => {
    const model = await modelOfSuite(
      scriptsOf({
        ask: [{ shell: 'echo allowed > allowed.txt' }, { text: 'It was allowed.' }, { text: 'And on it goes.' }],
        deny: [{ shell: 'echo denied > denied.txt' }, { text: 'It was not allowed.' }],
        long: [{ shell: 'until [ -e "$HOME/go" ]; do sleep 0.1; done' }, { text: 'It went on.' }, { text: 'The queued one.' }],
        hostile: [{ text: hostile }],
        change: [{ shell: changing }, { text: 'It is changed.' }, { text: 'It is changed as you said.' }],
        edit: editing,
        picture: picturing,
        disguised,
        choose: [{ tool: 'AskUserQuestion', input: { questions: [colour] } }, { text: 'Blue it is.' }],
      }),
    );
    place.configure(configFor(model, { harness: 'claude' }));
    await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
    life = await place.up();
    client = place.client(life);
    repository = makeRepository(place, 'site', { validation: 'echo "looked at: $(ls | wc -l) files"' });
    writeFiles(repository, { 'numbers.txt': numbers });
    commitAll(repository, 'numbers');
    await client.call('projectAdd', { body: { source: repository } });
  });

  const begin = async (kind: string, name: string, more: object = {}) =>
    client.call('sessionCreate', { body: { project: repository, name, prompt: `Do it. [${kind}]`, ...more } });

  const entered = async (look?: object): Promise<Page> => {
    const page = await browser.open(look);
    await letIn(place, page);
    return page;
  };

  it('lets nobody in without a link, and a link once', async () => {
    const page = await browser.open();
    await page.goto(life.url);
    await page.getByText('This browser is not let in').first().waitFor();
    const { stdout } = await place.cli(['open', '--print']);
    for (const time of ['first', 'second']) {
      const other = await browser.open();
      await other.goto(stdout.trim());
      const button = other.getByRole('button', { name: 'Let this browser in' });
      await button.waitFor();
      expect(new URL(other.url()).hash).toBe('');
      await button.click();
      await other
        .getByText(time === 'first' ? 'Nothing waits for you' : 'This link lets nobody in')
        .first()
        .waitFor();
    }
    expect((await place.cli(['token', 'list'])).stdout).toContain('browser');
  });

  it('a question stands in the inbox with its exact command, and an answer reaches the agent', async () => {
    const page = await entered();
    const { id } = await begin('ask', 'asked');
    await sessionIn(client, id, ['waiting']);
    await page.getByText('echo allowed > allowed.txt', { exact: true }).waitFor();
    await picture(page, 'inbox');
    expect(await barriers(page)).toEqual([]);
    // The first key goes to what is asked, and answers nothing.
    await page.keyboard.press('a');
    expect(await page.evaluate('document.activeElement.dataset.ask')).toBe('');
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for you').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find and do' }).fill('asked');
    await picture(page, 'palette');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('option', { name: /asked/ }).first().click();
    await page.getByText('It was allowed.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByText('There is no task yet.').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('It was allowed');
    await page.getByRole('option', { name: /It was allowed/ }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('And then?');
    await page.keyboard.press('Enter');
    await page.getByText('And on it goes.').waitFor();
    await picture(page, 'session');
    expect(await barriers(page)).toEqual([]);
  });

  it('what is denied does not happen, in any window', async () => {
    const [one, other] = [await entered(), await entered({ colorScheme: 'dark', viewport: { width: 390, height: 800 } })];
    const { id } = await begin('deny', 'denied');
    await other.goto(`${life.url}/sessions/${id}`);
    await other.getByText('Allow once').waitFor();
    await picture(other, 'session-phone');
    expect(await barriers(other)).toEqual([]);
    const asked = one.getByRole('region').filter({ hasText: 'echo denied' });
    await asked.getByRole('button', { name: 'Deny' }).click();
    await other.getByText('It was not allowed.').waitFor();
    await other.getByText('Allow once').waitFor({ state: 'detached' });
  });

  it('a question of the agent is answered by what it offers', async () => {
    const page = await entered();
    const { id } = await begin('choose', 'choose');
    await sessionIn(client, id, ['waiting']);
    await page.getByRole('radio', { name: /Blue/ }).check();
    await picture(page, 'inbox-question');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.goto(`${life.url}/sessions/${id}`);
    await page.getByText('Blue it is.').waitFor();
    const [settled] = (await client.call('interactionList', { query: { session: id, all: 'true' } })).items;
    expect(Object.values(settled?.answers ?? {})).toEqual(['Blue']);
  });

  it('queues while a turn runs, and heals when the node is killed and started again', async () => {
    const page = await entered();
    const { id, environment } = await begin('long', 'long', { mode: 'all' });
    await sessionIn(client, id, ['running']);
    await expect(client.call('sessionChanges', { params: { id } })).rejects.toMatchObject({ code: 'conflict' });
    await page.goto(`${life.url}/sessions/${id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('The next thing');
    await page.getByRole('button', { name: 'Queue' }).click();
    await page.getByRole('list', { name: 'Inputs that wait' }).getByText('The next thing').waitFor();
    await changesTheQueue(page, client, id);
    await page.getByRole('textbox', { name: 'Message' }).fill('A word between');
    await page.getByRole('button', { name: 'Queue' }).click();
    const between = page.getByRole('listitem').filter({ hasText: 'A word between' });
    await between.getByRole('button', { name: 'Send it now' }).click();
    await between.waitFor({ state: 'detached' });
    const kinds = (await client.call('turnList', { params: { id } })).items.map(({ kind, text }) => [kind, text]);
    expect(kinds).toContainEqual(['steer', 'A word between']);
    const { port } = new URL(life.url);
    await life.kill();
    await page.getByText('not connected').waitFor();
    life = await place.up({ port });
    client = place.client(life);
    await place.cli(['env', 'exec', environment.name, '--', 'sh', '-c', 'touch "$HOME/go"']);
    await page.getByText('It went on.').waitFor({ timeout: 120_000 });
    await page.getByText('The queued one.').waitFor({ timeout: 120_000 });
    await page.getByText('not connected').waitFor({ state: 'detached' });
  });

  it('shows what an agent says as text, whatever it is', async () => {
    const { id } = await begin('hostile', 'hostile');
    const [turn] = (await client.call('turnList', { params: { id } })).items;
    await turnOver(client, id, turn!.id);
    const page = await entered();
    await page.goto(`${life.url}/sessions/${id}`);
    await page.getByText('javascript:alert(1)').waitFor();
    expect(await page.title()).toBe('Orrery');
    expect(await page.getByRole('log').locator('img, a, script').count()).toBe(0);
  });

  it('draws a picture that a tool gave back, and shows by its number what of a command nobody sees', async () => {
    const page = await entered();
    await drawsThePicture(page, client, (await begin('picture', 'picture', { mode: 'all' })).id);
    await showsWhatNobodySees(page, client, (await begin('disguised', 'disguised')).id);
  });

  it('lists what there is, and says what to do where there is nothing', async () => {
    const page = await entered({ colorScheme: 'dark' });
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByText('There is no task yet.').waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('link', { name: 'asked' }).waitFor();
    await picture(page, 'sessions');
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${life.url}/nowhere`);
    await page.getByText('There is no page at this address.').waitFor();
  });

  it('a result is reviewed file by file, and commented on', async () => {
    const { id } = await client.call('taskAdd', { body: { project: repository, prompt: 'Change it. [change]' } });
    expect((await taskEnd(client, id)).verdict).toBe('accepted');
    const page = await entered();
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('link', { name: 'Change it. [change]' }).click();
    await page.getByRole('link', { name: /^Changes: 4 files/ }).click();
    const files = page.getByRole('navigation', { name: 'Changed files' });
    await page.getByText('<script>document.title=1</script>⟨U+202E⟩evil').waitFor();
    expect(await page.title()).toBe('Orrery');
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Show 4000 changed lines/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('region', { name: 'Change at line 47' }).waitFor();
    await page.getByText('validation', { exact: false }).first().click();
    await page.getByText(/looked at: \d+ files/).waitFor();
    await picture(page, 'changes');
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'Comment' }).fill('Write it as 5 and 0.');
    await page.getByRole('button', { name: 'Keep the comment' }).click();
    await page.keyboard.press('s');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('comment on the change').waitFor();
    await picture(page, 'changes-beside');
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await files.getByRole('button', { name: /zeros.bin/ }).click();
    await page.getByText('This is no text').waitFor();
    reviewed = { id, page };
  });

  it('comments that were kept go to the agent as one message, and a result is applied to a clean tree alone', async () => {
    const { id, page } = reviewed;
    await page.reload();
    await page.getByText('Your comments: 1').waitFor();
    await page.getByRole('button', { name: 'Send to the agent' }).click();
    await page.getByText('It is changed as you said.').first().waitFor({ timeout: 120_000 });
    const next = (await client.call('taskList', {})).items.find(({ continues }) => continues === id);
    expect(next?.prompt).toContain('1. numbers.txt:50 (before the change)\n> -50\nWrite it as 5 and 0.');
    await page.goto(`${life.url}/tasks/${id}/changes`);
    await page.getByRole('button', { name: 'Leave the file out' }).click();
    await page.getByRole('button', { name: /numbers.txt/ }).click();
    await page.getByRole('region', { name: 'Change at line 47' }).getByRole('button', { name: 'Leave it out' }).click();
    await page.getByText('1 file and 1 change left out').waitFor();
    await picture(page, 'changes-left-out');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply to the checked-out branch' }).click();
    await page.getByText('was moved forward').waitFor();
    expect(gitIn(repository, 'show', 'HEAD:numbers.txt')).toMatch(/^five$[^]*^50$/m);
    expect(gitIn(repository, 'show', '--name-only', '--format=', 'HEAD')).toBe('long.txt\nnumbers.txt\nzeros.bin');
    writeFiles(repository, { 'numbers.txt': 'mine' });
    await page.getByRole('button', { name: 'Apply to the checked-out branch' }).click();
    await page.getByRole('alert').getByText('The repository has uncommitted changes').waitFor();
    await picture(page, 'changes-refused');
  });

  it('the files of a session are reviewed between its turns, since its base or a checkpoint', async () => {
    const { id, environment } = await begin('edit', 'edit', { mode: 'all' });
    const [turn] = (await client.call('turnList', { params: { id } })).items;
    await turnOver(client, id, turn!.id);
    const { look } = await client.call('sessionChanges', { params: { id }, query: {} });
    const page = await entered({ colorScheme: 'dark' });
    await goesBackAndForth(page, `${life.url}/sessions/${id}`);
    await page.getByRole('button', { name: /new.txt/ }).click();
    await page.getByRole('region', { name: 'Change at line 1' }).getByRole('button', { name: 'Take it back' }).click();
    await picture(page, 'changes-take-back');
    await page.getByRole('button', { name: 'Take back: 1 change' }).click();
    await page.getByRole('button', { name: /new.txt/ }).waitFor({ state: 'detached' });
    expect((await client.call('sessionCheckpoints', { params: { id } })).items.map(({ kind }) => kind)).toContain('rewind');
    const tree = (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '';
    expect([existsSync(join(tree, 'new.txt')), readFileSync(join(tree, 'README.md'), 'utf8')]).toEqual([
      false,
      expect.stringMatching(/more\n$/),
    ]);
    const stale = { params: { id }, body: { look, without: [{ path: 'README.md' }] } };
    await expect(client.call('sessionTakeBack', stale)).rejects.toMatchObject({ code: 'conflict' });
    await page.getByRole('button', { name: /README.md/ }).click();
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'Comment' }).fill('Less.');
    await page.getByRole('button', { name: 'Keep the comment' }).click();
    await picture(page, 'changes-session');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send to the agent' }).click();
    await page.getByText('Edited as you said.').waitFor();
    const { items } = await client.call('turnList', { params: { id } });
    const said = items.find(({ text }) => text.includes('> +more'));
    expect(said?.text).toMatch(/^1\. README\.md:\d+\n> \+more\nLess\.$/m);
    await page.getByRole('link', { name: 'Changes' }).click();
    await answeredAt(page, /README.md/, 'Edited as you said.');
    await picture(page, 'changes-answered');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('combobox').selectOption({ index: 1 });
    await page.getByText('Nothing was changed.').waitFor();
    const other = { path: 'README.md', look: 'a-b' };
    await expect(client.call('sessionChange', { params: { id }, query: other })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('a review fits a phone', async () => {
    await fitsAPhone(await entered({ colorScheme: 'dark', viewport: { width: 390, height: 800 } }));
  });
});
