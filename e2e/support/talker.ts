/** A program of an operator's own that says many lines in one turn, without a model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const script = (lines: number): string => `
awk 'BEGIN {
  for (line = 1; line <= ${lines}; line++)
    printf "{\\"type\\":\\"message\\",\\"message\\":{\\"role\\":\\"ROLE_AGENT\\",\\"parts\\":[{\\"type\\":\\"text\\",\\"text\\":\\"line %d\\"}]}}\\n", line
}'
printf '{"type":"result","text":""}\\n'
`;

/** The program `talker`, for `harnesses` of a configuration. */
export const talkerOf = (folder: string, lines: number): object => {
  const programs = join(folder, 'talker');
  mkdirSync(programs);
  writeFileSync(join(programs, 'turn.sh'), script(lines));
  return { talker: { command: ['/bin/sh', join(programs, 'turn.sh')], files: [programs], callsModel: false } };
};

const log = `document.querySelector('[role="log"]')`;

/** Scrolls a transcript, px from the beginning of what is there. */
export const scrollLog = (page: Page, top: number): Promise<void> => page.evaluate(`void (${log}.scrollTop = ${top})`);

export const scrolledLog = (page: Page): Promise<number> => page.evaluate(`${log}.scrollTop`);

/** Goes to the beginning of a transcript, however many pages are before it. */
export const toBeginning = async (page: Page): Promise<void> => {
  for (let times = 0; times < 100; times++) {
    await scrollLog(page, 0);
    await page.waitForTimeout(100);
    if (await page.getByText('line 1', { exact: true }).isVisible()) return;
  }
  throw new Error('The first line was not reached.');
};
