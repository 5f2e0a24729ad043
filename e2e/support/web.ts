// The web client in a real browser.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { chromium as launcher, type Browser, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { chromium } from './chromium.ts';
import type { Place } from './place.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A browser for the tests of one file. */
export const browserOfSuite = (): { open(look?: object): Promise<Page> } => {
  let browser: Promise<Browser> | null = null;
  afterAll(async () => (await browser)?.close());
  return {
    async open(look = {}) {
      browser ??= launcher.launch({
        executablePath: chromium ?? '',
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      });
      const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 }, ...look });
      return context.newPage();
    },
  };
};

/** Lets a page's browser in, as a person does: by the link that the command prints. */
export const letIn = async (place: Place, page: Page, ...args: readonly string[]): Promise<void> => {
  const { stdout } = await place.cli(['open', '--print', ...args]);
  await page.goto(stdout.trim());
  await page.getByRole('button', { name: 'Let this browser in' }).click();
  await page.getByRole('link', { name: /^Inbox/ }).waitFor();
};

/** What of a page keeps some people out: nothing that axe calls serious may be there. */
export const barriers = async (page: Page): Promise<readonly string[]> => {
  // The page's own policy lets no script of ours in: the browser is told directly.
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
};

/** Keeps a picture of the page where `ORRERY_SCREENSHOTS` says. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['ORRERY_SCREENSHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
};

/** Gives the page's worker a message as a push service's would come, and answers the titles that are shown then. */
export const pushed = async (page: Page, data: string): Promise<readonly string[]> => {
  const tools = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    tools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [one] = registrations;
      if (one !== undefined) resolve(one.registrationId);
    });
  });
  await tools.send('ServiceWorker.enable');
  const origin = new URL(page.url()).origin;
  await tools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data });
  await page.waitForTimeout(500);
  await tools.detach();
  return page.evaluate(
    `navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map(({ title }) => title))`,
  );
};

/** Pictures of pages by their paths, where they are kept at all. */
export const pictures = async (page: Page, paths: Readonly<Record<string, string>>): Promise<void> => {
  if (process.env['ORRERY_SCREENSHOTS'] === undefined) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    // What is asked of the node is there a moment after the page.
    await page.waitForTimeout(1_500);
    await picture(page, name);
  }
};

/** The one comment of a review that was sent has its answer, in the list and at its line of a file. */
export const answeredAt = async (page: Page, file: RegExp, words: string): Promise<void> => {
  const answered = page.getByRole('region', { name: 'Comments that were sent' });
  await answered.getByText('1 of 1 answered by number').waitFor();
  await answered.getByRole('button', { name: file }).click();
  await page.getByRole('note', { name: 'Comment 1, sent' }).getByText(`→ ${words}`).waitFor();
};
