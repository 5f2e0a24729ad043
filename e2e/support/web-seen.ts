// What of a tool is seen in the page: the picture that it gave back, and each letter of the command that is asked.
import type { Client } from '@orrery/client';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { sessionIn, turnOver } from './sessions.ts';
import { barriers, picture } from './web.ts';

/** A picture of one point, made and then looked at: what its tool gives back is the picture. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const picturing = [
  { shell: `echo ${DOT} | base64 -d > dot.png` },
  { tool: 'Read', input: { file_path: 'dot.png' } },
  { text: 'It is red.' },
];

/** A command that looks like another one: what is asked shows what nobody sees. */
export const disguised = [{ shell: 'echo safe > \u202egnihton' }, { text: 'Done.' }];

/** The picture stands where its result does, drawn from bytes that the log does not hold. */
export const drawsThePicture = async (page: Page, client: Client, id: string): Promise<void> => {
  const [turn] = (await client.call('turnList', { params: { id } })).items;
  await turnOver(client, id, turn!.id);
  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByRole('button', { name: 'picture 1, in its own size' }).locator('img').waitFor();
  expect(await page.evaluate(`document.querySelector('[role="log"] img').naturalWidth`)).toBe(1);
  await picture(page, 'session-picture');
  expect(await barriers(page)).toEqual([]);
  const log = JSON.stringify((await client.call('sessionRows', { params: { id }, query: {} })).items);
  expect([log.includes('"locator"'), log.includes('base64,')]).toEqual([true, false]);
};

/** A character that turns text around stands there by its number, where a person allows and where it was called. */
export const showsWhatNobodySees = async (page: Page, client: Client, id: string): Promise<void> => {
  await sessionIn(client, id, ['waiting']);
  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByRole('region').getByText('echo safe > ⟨U+202E⟩gnihton', { exact: true }).waitFor();
  expect(await page.locator('body').innerText()).not.toContain('\u202e');
  await page.getByRole('button', { name: 'Deny' }).click();
  await sessionIn(client, id, ['idle']);
};
