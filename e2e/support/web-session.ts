// What a person does in the page of a session, beside saying something.
import type { Client } from '@orrery/client';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { barriers, picture } from './web.ts';

/** Edits, moves and takes back what waits, while another window does too. One input waits. */
export const changesTheQueue = async (page: Page, client: Client, id: string): Promise<void> => {
  await page.getByRole('button', { name: 'Edit' }).click();
  const edited = page.getByRole('textbox', { name: 'Text of the input' });
  await edited.fill('Mine');
  const [waits] = (await client.call('turnList', { params: { id } })).items.filter(({ state }) => state === 'pending');
  await client.call('turnSet', { params: { id, turn: waits!.id }, body: { text: 'Theirs' } });
  await page.getByRole('button', { name: 'Keep', exact: true }).click();
  // Two windows on one queue: what the other one wrote is not written over unseen.
  await page.getByText('It was changed in another window since').waitFor();
  await picture(page, 'session-queue-changed');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await edited.fill('The next thing');
  await page.keyboard.press('Enter');
  await edited.waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'Message' }).fill('First of all');
  await page.getByRole('button', { name: 'Queue' }).click();
  await page.getByRole('listitem').filter({ hasText: 'First of all' }).getByRole('button', { name: 'Earlier' }).click();
  await page
    .getByRole('listitem')
    .filter({ hasText: /queued.*First of all/ })
    .getByRole('button', { name: 'Later' })
    .waitFor();
  await picture(page, 'session-queue');
  expect(await barriers(page)).toEqual([]);
  const first = page.getByRole('listitem').filter({ hasText: 'First of all' });
  await first.getByRole('button', { name: 'Take it back' }).click();
  await first.waitFor({ state: 'detached' });
};

/** The files go back to before the first turn, and forth again; then their changes are shown. */
export const goesBackAndForth = async (page: Page, url: string): Promise<void> => {
  await page.goto(url);
  await page.getByRole('button', { name: 'Checkpoints' }).waitFor();
  await page.keyboard.press('h');
  const moments = page.getByRole('dialog', { name: 'Checkpoints' });
  await moments.getByText('before turn 1').waitFor();
  await picture(page, 'session-checkpoints');
  expect(await barriers(page)).toEqual([]);
  await moments.getByRole('button', { name: 'Go back …' }).click();
  await moments.getByText('What is there now is saved first, as a checkpoint.').waitFor();
  await moments.getByRole('combobox').selectOption('files');
  await moments.getByRole('button', { name: 'Go back', exact: true }).click();
  await moments.getByText('The files are as before turn 1.').waitFor({ timeout: 60_000 });
  await picture(page, 'session-went-back');
  await moments.getByRole('button', { name: 'Take it back' }).click();
  await moments.getByText('The files are as at').waitFor({ timeout: 60_000 });
  await page.goto(`${url}/changes`);
};

/** Another session parts by the button, and the page goes there: what was said stands in it, and where it comes from. */
export const partsByButton = async (page: Page, client: Client, words: { readonly said: string; readonly record: boolean }) => {
  const [from] = new URL(page.url()).pathname.split('/').slice(-1);
  const button = page.getByRole('button', { name: words.record ? 'Fork with a record' : 'Fork', exact: true });
  await button.waitFor();
  // By its key or by a click: it is the same.
  if (words.record) await page.keyboard.press('F');
  else await button.click();
  const lineage = page.getByRole('link', { name: /^forked from another session/ });
  await lineage.waitFor({ timeout: 60_000 });
  expect(await lineage.innerText()).toBe(`forked from another session${words.record ? ', with a record of what was said' : ''}`);
  await page.getByRole('log').getByText(words.said, { exact: true }).waitFor({ timeout: 30_000 });
  const [id] = new URL(page.url()).pathname.split('/').slice(-1);
  const { forkedFrom } = await client.call('sessionShow', { params: { id: id ?? '' } });
  const { id: origin } = await client.call('sessionShow', { params: { id: from ?? '' } });
  expect([id === from, forkedFrom]).toEqual([false, { session: origin, turn: null, replaced: words.record }]);
  expect(await barriers(page)).toEqual([]);
};
