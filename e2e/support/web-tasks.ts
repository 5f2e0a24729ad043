// A task in the page: what happens in it is seen while it happens, a check that fails and then passes, and what the Inbox makes of it.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { barriers, picture } from './web.ts';

/** What the agent does: its first result fails the check, its second passes; a command that prints in colour and for a while. */
export const mended = [
  { shell: String.raw`printf '\033[31mred\033[0m line\n'; sleep 1` },
  { text: 'Nothing is made yet.' },
  { shell: 'echo made > made.txt' },
  { text: '## Done\n\nIt is **made**, see `made.txt`.' },
];

/** Gives the task that stands in the form, and looks at it until it is put aside in the Inbox. */
export const looksAtATask = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Give it' }).click();
  const log = page.getByRole('log');
  // While it runs: what its agent does, and nothing said of checks that did not happen.
  await log.getByText('red line', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText('The result is checked when it is there.').waitFor();
  await page.getByRole('button', { name: 'Stop it …' }).waitFor();
  await page.getByText('accepted').first().waitFor({ timeout: 60_000 });
  await log.getByText('Nothing is made yet.').waitFor();
  const checks = page.getByRole('region', { name: 'Checks' });
  await checks.getByText('exit code 0, in round 2, the last').waitFor();
  await checks.getByText('✗ validation, round 1').waitFor();
  // Marks of Markdown are read, and stay text.
  expect(await page.getByText('Done', { exact: true }).first().innerText()).toBe('Done');
  expect(await page.locator('strong', { hasText: 'made' }).count()).toBeGreaterThan(0);
  await picture(page, 'task');
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: /^Inbox/ }).click();
  const line = page.getByRole('listitem').filter({ hasText: 'Make it.' });
  await line.getByText('to review').waitFor();
  await line.getByRole('link', { name: 'Review' }).waitFor();
  await picture(page, 'inbox-review');
  expect(await barriers(page)).toEqual([]);
  await line.getByRole('button', { name: /^Put aside/ }).click();
  await page.reload();
  await page.getByText('Nothing waits for you.').waitFor();
};

/** On a phone every page can be reached, and what is pressed has the size of a finger. */
export const fitsAFinger = async (page: Page, url: string): Promise<void> => {
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
  const box = await page
    .getByRole('navigation', { name: 'Pages', exact: true })
    .getByRole('link', { name: 'Node' })
    .boundingBox();
  expect((box?.x ?? 999) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
  const small = await page.evaluate(`[...document.querySelectorAll('button, select')]
    .filter((one) => one.offsetParent !== null && !one.classList.contains('fine') && one.getBoundingClientRect().height < 40)
    .map((one) => one.innerText)`);
  expect(small).toEqual([]);
};
