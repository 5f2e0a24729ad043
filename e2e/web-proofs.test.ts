/** What a page of the web client shows is what there is: with three real agent programs, over a death of the node, and whatever comes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Client } from '@orrery/client';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { chromium } from './support/chromium.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { hugePicture, shownRows } from './support/web-rows.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, turnOver } from './support/sessions.ts';
import { browserOfSuite, letIn } from './support/web.ts';

/** How long somebody may be asked here before nobody answered. */
const ASKED_SECONDS = 8;
const programs = ['claude', 'codex', 'gemini'] as const;
const built = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));

describe.skipIf(chromium === null || !built)('the web client', { timeout: 240_000 }, () => {
  const place = placeOfSuite();
  const browser = browserOfSuite();
  let life: Life;
  let client: Client;
  let repository: string;
  let page: Page;

  beforeAll(async () => {
    const model = await modelOfSuite(
      scriptsOf({
        asks: [
          { shell: 'echo one > one.txt' },
          { shell: 'echo two > two.txt' },
          { shell: 'echo three > three.txt' },
          { text: 'One was allowed, two was not, and nobody said anything of three.' },
        ],
        long: [
          { text: 'I begin.', shell: 'for i in 1 2 3 4 5; do echo "line $i"; sleep 0.1; done' },
          { text: 'I wait.', shell: 'until [ -e "$HOME/go" ]; do sleep 0.1; done' },
          { text: 'It went on.', shell: 'echo behind' },
          { text: 'That is all.' },
        ],
        wide: [{ bytes: 10_000_000 }],
      }),
    );
    place.configure(configFor(model, { harness: 'claude', sessions: { answerSeconds: ASKED_SECONDS } }));
    life = await place.up();
    client = place.client(life);
    repository = makeRepository(place, 'shop', {});
    await client.call('projectAdd', { body: { source: repository } });
    page = await browser.open();
    await letIn(place, page);
  });

  const begin = async (harness: string, kind: string, more: object = {}) =>
    client.call('sessionCreate', { body: { project: repository, harness, prompt: `Do it. [${kind}]`, ...more } });
  const over = async (id: string) => turnOver(client, id, (await client.call('turnList', { params: { id } })).items[0]!.id);
  const asked = (words: string) => page.getByRole('region').filter({ hasText: words });

  it.each(programs.filter(isThere))(
    '%s asks in the page: what is allowed happens, what is denied or nobody answers does not, and the rows stay',
    async (harness) => {
      const { id } = await begin(harness, 'asks', { mode: 'ask' });
      await page.goto(`${life.url}/sessions/${id}`);
      await asked('echo one > one.txt').getByRole('button', { name: 'Allow once' }).click();
      await asked('echo two > two.txt').getByRole('button', { name: 'Deny' }).click();
      await asked('echo three > three.txt').waitFor();
      await page.getByText('nobody said anything of three').waitFor({ timeout: 120_000 });
      expect((await over(id)).outcome).toBe('success');
      const settled = (await client.call('interactionList', { query: { session: id, all: 'true' } })).items;
      expect(settled.map(({ outcome }) => String(outcome)).toSorted()).toEqual(['approved', 'denied', 'timed-out']);
      await expect.poll(async () => (await shownRows(page)).join('\n')).toMatch(/timed-out/);
      const live = await shownRows(page);
      await page.reload();
      await page.getByText('nobody said anything of three').waitFor();
      expect(await shownRows(page)).toEqual(live);
      const { environment } = await client.call('sessionShow', { params: { id } });
      const tree = (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '';
      expect(['one.txt', 'two.txt', 'three.txt'].map((name) => existsSync(join(tree, name)))).toEqual([true, false, false]);
      await client.call('sessionEnd', { params: { id }, body: {} });
    },
  );

  it.skipIf(!isThere('claude'))('a node that dies under an open page loses no row of it, and shows none twice', async () => {
    const { id, environment } = await begin('claude', 'long', { mode: 'all' });
    await page.goto(`${life.url}/sessions/${id}`);
    await page.getByText('I wait.').waitFor();
    const { port } = new URL(life.url);
    await life.kill();
    await page.getByText('not connected').waitFor();
    life = await place.up({ port });
    client = place.client(life);
    await place.cli(['env', 'exec', environment.name, '--', 'sh', '-c', 'touch "$HOME/go"']);
    await page.getByText('That is all.').waitFor({ timeout: 120_000 });
    await over(id);
    await sessionIn(client, id, ['idle']);
    await page.getByText('not connected').waitFor({ state: 'detached' });
    const healed = await shownRows(page);
    const other = await browser.open();
    await letIn(place, other);
    await other.goto(`${life.url}/sessions/${id}`);
    await other.getByText('That is all.').waitFor();
    expect(healed).toEqual(await shownRows(other));
    for (const words of ['I begin.', 'I wait.', 'It went on.', 'That is all.'])
      expect(healed.filter((row) => row.includes(words))).toHaveLength(1);
    expect((await logOf(client, id)).filter(({ body }) => body.kind === 'turn.ended')).toHaveLength(1);
    await other.close();
  });

  it.skipIf(!isThere('claude'))(
    'a line of ten million characters and a picture of a billion dots leave the page as quick as before',
    async () => {
      const { id } = await begin('claude', 'wide', { mode: 'all' });
      await over(id);
      await page.goto(`${life.url}/sessions/${id}`);
      const log = page.getByRole('log');
      await log.getByRole('button').or(log.locator('p')).first().waitFor();
      expect((await log.innerText()).length).toBeLessThan(100_000);
      const body = hugePicture(30_000, 30_000, deflateSync);
      const { id: file } = await client.call('attachmentAdd', { params: { id }, query: { name: 'huge.png' }, body });
      await client.call('turnAdd', { params: { id }, body: { text: 'Look.', attachments: [file] } });
      await log.getByText('Look.').waitFor();
      const began = Date.now();
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByRole('heading', { name: 'Tasks' }).waitFor();
      expect(Date.now() - began).toBeLessThan(10_000);
    },
  );
});
