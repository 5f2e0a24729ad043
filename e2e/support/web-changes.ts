// What agents do, say and ask in the tests of the web client.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { barriers, picture } from './web.ts';

/** Lines of a file of the repository, before. */
export const numbers = Array.from({ length: 60 }, (_, place) => `${place + 1}\n`).join('');
/** What is done to the files: some lines, a script with a character that turns text around, a long file, one that is no text. */
export const changing = [
  "sed -i 's/^5$/five/; s/^50$/fifty/' numbers.txt",
  `printf '%s' '<script>document.title=1</script>\u202eevil' > evil.html`,
  'seq 1 4000 > long.txt',
  'head -c 70000 /dev/zero > zeros.bin',
].join('; ');

/** What would become something else where text is not shown as text. */
export const hostile = '<img src=x onerror="document.title=1"> \u001b[31mred\u202e [link](javascript:alert(1))';

/** A question with what can be answered. */
export const colour = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
};

/** An agent that edits, and then answers the one comment of a review. */
export const editing = [
  { shell: 'echo new > new.txt; echo more >> README.md' },
  { text: 'It is edited.' },
  { text: '1. Edited as you said.' },
];

/** The change that was made is reviewed on a phone. */
export const fitsAPhone = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByRole('link', { name: 'Change it. [change]' }).click();
  await page.getByRole('link', { name: /^Changes: 4 files/ }).click();
  await page.getByRole('button', { name: /numbers.txt/ }).click();
  await page.getByRole('region', { name: 'Change at line 47' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await picture(page, 'changes-phone');
  expect(await barriers(page)).toEqual([]);
};
