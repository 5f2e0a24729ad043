// A rule in the page: proposed where something is asked, added by keys, and seen afterwards.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Place } from './place.ts';
import { sessionIn } from './sessions.ts';
import { barriers, letIn, picture } from './web.ts';

/** What the agent does twice; it is asked once. */
export const ruled = [
  { shell: 'echo ruled > ruled.txt' },
  { shell: 'echo ruled > ruled.txt' },
  { shell: 'echo ruled > ruled.txt; echo more > more.txt' },
  { text: 'All of it is done.' },
];

type Scene = {
  readonly place: Place;
  readonly client: Client;
  readonly page: Page;
  readonly looker: Page;
  /** A session of it that waits. */
  readonly begin: () => Promise<{ readonly id: string }>;
};

/** Whoever only looks sees the rule; the owner adds it with keys alone, and the next same command is not asked. */
export const addsARule = async ({ place, client, page, looker, begin }: Scene): Promise<void> => {
  const { id } = await begin();
  await sessionIn(client, id, ['waiting']);
  await letIn(place, looker, '--scope', 'viewer');
  await looker.goto(new URL(`/sessions/${id}`, page.url()).href);
  await looker.getByRole('button', { name: 'By a rule …' }).click();
  await looker.getByText('Only the owner adds it.').waitFor();
  expect(await looker.getByRole('button', { name: 'Add to the policy file' }).count()).toBe(0);
  await page.goto(new URL('/', page.url()).href);
  await page.getByText('echo ruled > ruled.txt', { exact: true }).waitFor();
  // The first key goes to what is asked, the second shows the rule.
  await page.keyboard.press('r');
  await page.keyboard.press('r');
  const rule = page.getByLabel('The rule, as YAML');
  await rule.getByText('exact: echo ruled > ruled.txt').waitFor();
  await picture(page, 'inbox-rule');
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('echo ruled > ruled.txt; echo more > more.txt', { exact: true }).waitFor({ timeout: 60_000 });
  const { folder } = await client.call('policyList', { query: {} });
  const file = readFileSync(join(folder, 'approvals.yaml'), 'utf8');
  expect(file).toContain('exact: echo ruled > ruled.txt\n');
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await sessionIn(client, id, ['idle']);
  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByText(/command: approved by rule:echo-ruled/).waitFor();
};

/** The page of rules: which there are, what one of them says, and what is wrong with a file. */
export const showsTheRules = async ({ page }: Pick<Scene, 'page'>): Promise<void> => {
  await page.goto(new URL('/policies', page.url()).href);
  await page
    .getByRole('list', { name: 'Rules' })
    .getByText(/^echo-ruled/)
    .waitFor();
  await page.getByLabel('A command').fill('echo ruled > ruled.txt; id');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByText('no rule decides').waitFor();
  await picture(page, 'policies');
  expect(await barriers(page)).toEqual([]);
};

/** What waits already is decided by a rule that a person writes later; the page shows it by itself. */
export const decidesWhatWaits = async ({ place, client, page, begin }: Omit<Scene, 'looker'>): Promise<void> => {
  const { id } = await begin();
  await sessionIn(client, id, ['waiting']);
  await page.goto(new URL('/', page.url()).href);
  const command = 'echo ruled > ruled.txt; echo more > more.txt';
  await page.getByText(command, { exact: true }).waitFor();
  const rule = {
    name: 'no-more',
    action: 'approval',
    verdict: 'deny',
    reason: 'Not here.',
    match: { command: { exact: command } },
  };
  writeFileSync(join(place.config, 'policies', 'own.yaml'), JSON.stringify({ rules: [rule] }));
  await page.getByText(command, { exact: true }).waitFor({ state: 'detached' });
  await sessionIn(client, id, ['idle']);
  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByText('command: denied by rule:no-more').waitFor();
};
