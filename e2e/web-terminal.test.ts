/** Terminals in the page: a real browser at the terminals of a real node. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromium } from './support/chromium.ts';
import { commandsOn } from './support/commands.ts';
import { devServer } from './support/dev-server.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { printed, taskEnd } from './support/wait.ts';
import { barriers, browserOfSuite, letIn, picture } from './support/web.ts';

const built = existsSync(join(import.meta.dirname, '..', 'packages', 'web', 'dist', 'index.html'));

/** What stands on the terminal's screen. */
const rowsOf = (page: Page) => page.locator('.xterm-rows');
const shows = async (page: Page, text: RegExp, timeout = 30_000): Promise<void> =>
  expect.poll(() => rowsOf(page).innerText(), { timeout }).toMatch(text);
const type = async (page: Page, line: string): Promise<void> => {
  await page.locator('.xterm').click();
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
};

describe.skipIf(chromium === null || !built)('terminals in the page', { timeout: 120_000 }, () => {
  const place = placeOfSuite({ listen: { previewPort: 0 } });
  const browser = browserOfSuite();
  const { send } = commandsOn(place, () => client);
  let life: Life;
  let client: Client;
  let task: string;
  let first: Page;

  beforeAll(async () => {
    life = await place.up();
    client = place.client(life);
    task = await send('echo open; sleep 600', { backend: 'local' });
    await printed(client, task, 'open');
  });
  afterAll(async () => {
    await client.call('taskCancel', { params: { id: task }, body: {} });
    await taskEnd(client, task);
  });

  const entered = async (look?: object): Promise<Page> => {
    const page = await browser.open(look);
    page.on('console', (said) => said.type() === 'error' && faults.push(said.text()));
    await letIn(place, page);
    await page.goto(`${life.url}/terminals/${task}`);
    return page;
  };
  const faults: string[] = [];
  const only = async () => (await client.call('terminalList', { params: { id: task } })).items.at(-1)!;

  it('a shell is begun, drawn in colour, and the same again after a reload in the middle', async () => {
    first = await entered();
    await first.getByText('Nothing runs here yet.').waitFor();
    await first.getByRole('button', { name: 'New shell' }).click();
    await shows(first, /[$#] *$/);
    await type(
      first,
      String.raw`printf '\033[31mred\033[0m \033[c\033]52;c;c2VjcmV0\007'; read -rsd c; stty size; echo $((40 + 2))-stays`,
    );
    await shows(first, /^red \d+ \d+\n42-stays/m);
    // Its colours come by sheets that the page's policy lets through.
    const red = "[...document.querySelectorAll('.xterm-rows span')].find((one) => one.textContent === 'red')";
    expect(await first.evaluate(`getComputedStyle(${red}).color`)).toBe('rgb(179, 38, 30)');
    await first.getByRole('group', { name: 'Clipboard' }).getByRole('button', { name: 'No' }).click();
    await picture(first, 'terminal');
    expect(await barriers(first)).toEqual([]);
    await first.reload();
    await shows(first, /^red \d+ \d+\n42-stays/m);
    // What was drawn again asked the terminal nothing: no answer was typed into the shell.
    await type(first, 'echo again-$((1 + 1))');
    await shows(first, /again-2/);
    expect(await rowsOf(first).innerText()).not.toMatch(/command not found|1;2c/);
    expect(faults).toEqual([]);
  });

  it('a program sets the clipboard when a person allows it, once or always, and never reads it', async () => {
    await first.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = (): Promise<string> => first.evaluate('navigator.clipboard.readText()');
    await first.evaluate("navigator.clipboard.writeText('mine')");
    let times = 0;
    const set = async (text: string): Promise<void> => {
      times += 1;
      const word = Buffer.from(text).toString('base64');
      await type(first, String.raw`clear; printf '\033]52;c;?\007\033]52;c;${word}\007'; echo set-$((${times} + 40))`);
      await shows(first, new RegExp(`^set-${times + 40}`, 'm'));
    };
    const asks = first.getByRole('group', { name: 'Clipboard' });
    // What was drawn again after the reload asked nobody.
    expect(await asks.count()).toBe(0);
    await set('grün');
    await asks.getByText('The program asks to copy: grün').waitFor();
    expect(await barriers(first)).toEqual([]);
    expect(await copied()).toBe('mine');
    await asks.getByRole('button', { name: 'Copy it' }).click();
    await expect.poll(copied).toBe('grün');
    await set('second');
    await asks.getByRole('button', { name: 'Always in this terminal' }).click();
    await expect.poll(copied).toBe('second');
    await set('third');
    await expect.poll(copied).toBe('third');
    expect(await asks.count()).toBe(0);
    expect(await rowsOf(first).innerText()).not.toContain('52;c');
  });

  it('several look: the smallest visible one gives the size, and who types takes over', async () => {
    const phone = await entered({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
    await shows(phone, /set-43/);
    await expect.poll(async () => (await only()).viewers).toBe(2);
    await type(phone, 'clear; stty size; echo by-the-phone');
    for (const page of [first, phone]) await shows(page, /^\d+ \d+\nby-the-phone/m);
    await first.getByText('somebody else writes here').waitFor();
    const columns = async (page: Page): Promise<number> => Number(/^\d+ (\d+)$/m.exec(await rowsOf(page).innerText())?.[1]);
    expect(await columns(phone)).toBeLessThan(60);
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await picture(phone, 'terminal-phone');
    expect(await barriers(phone)).toEqual([]);
    await phone.close();
    await expect.poll(async () => (await only()).viewers).toBe(1);
    await type(first, 'clear; stty size; echo by-the-first');
    await shows(first, /^\d+ \d+\nby-the-first/m);
    expect(await columns(first)).toBeGreaterThan(100);
  });

  it('a full screen is drawn as it is, also when the connection broke', async () => {
    await type(first, 'seq 1 500 | less');
    await shows(first, /^1\n2\n3/);
    await first.keyboard.press('G');
    await shows(first, /500/);
    const { port } = new URL(life.url);
    await life.kill();
    await first.getByText('not connected: the program goes on').waitFor();
    // The client's window opens though the node is away, by its shell alone: nothing of the node was kept.
    const other = await first.context().newPage();
    await other.goto(`${life.url}/tasks`);
    await other.getByText('! not connected').waitFor();
    const kept = await other.evaluate(
      "caches.open('orrery-shell-1').then((all) => all.keys()).then((all) => all.map(({ url }) => url))",
    );
    expect(
      (kept as string[]).map((url) => new URL(url).pathname).filter((path) => !/^\/(assets\/[\w.-]+|icon[\w.-]*)?$/.test(path)),
    ).toEqual([]);
    await other.close();
    life = await place.up({ port });
    client = place.client(life);
    await first.getByText('● live').waitFor({ timeout: 60_000 });
    await shows(first, /500/);
    await picture(first, 'terminal-full-screen');
    await first.keyboard.press('g');
    await shows(first, /^1\n2\n3/);
    await first.keyboard.press('q');
    await type(first, 'clear; echo after-less');
    await shows(first, /after-less/);
  });

  it('50 MB of output do not make the page grow', async () => {
    const devtools = await first.context().newCDPSession(first);
    const heap = async (): Promise<number> => {
      await devtools.send('HeapProfiler.collectGarbage');
      return (await devtools.send('Runtime.getHeapUsage')).usedSize;
    };
    const before = await heap();
    await type(first, `yes '${'x'.repeat(99)}' | head -c 50000000; echo; echo all-of-it`);
    await shows(first, /^all-of-it/m, 90_000);
    expect((await heap()) - before).toBeLessThan(24_000_000);
    await first.reload();
    await shows(first, /all-of-it/);
  });

  it('a page is put beside another, in tabs that are there again after a reload, and takes no keys', async () => {
    await first.keyboard.press('Control+]');
    await first.keyboard.press('t');
    await first.keyboard.press('s');
    const beside = first.getByRole('region', { name: 'Beside' });
    await beside.locator('.xterm-rows').waitFor();
    await first.keyboard.press('g');
    await first.keyboard.press('t');
    await first.getByRole('link', { name: 'a prompt' }).waitFor();
    await first.keyboard.press('t');
    await first.keyboard.press('n');
    await first.getByText('Nothing waits for you').waitFor();
    await first.reload();
    await first.getByText('Nothing waits for you').waitFor();
    await first.keyboard.press('[');
    await expect.poll(() => beside.locator('.xterm-rows').innerText(), { timeout: 20_000 }).toMatch(/all-of-it/);
    expect(await first.evaluate('document.activeElement === document.body')).toBe(true);
    await picture(first, 'beside');
    expect(await barriers(first)).toEqual([]);
    await beside.getByRole('button', { name: 'Nothing beside' }).click();
    await first.goto(`${life.url}/terminals/${task}`);
  });

  it('a port is opened by a link to an address of its own', async () => {
    const { id } = await client.call('terminalOpen', {
      params: { id: task },
      body: { command: ['sh', '-c', devServer('mine', 0)] },
    });
    await first.getByRole('button', { name: /dev.cjs/ }).click();
    await shows(first, /port \d+\./);
    const port = /port (\d+)\./.exec(await rowsOf(first).innerText())?.[1] ?? '';
    await first.getByRole('textbox', { name: 'Port' }).fill(port);
    await first.getByRole('button', { name: 'Preview', exact: true }).click();
    const link = first.getByRole('link', { name: `Open port ${port}` });
    const address = (await link.getAttribute('href')) ?? '';
    expect(new URL(address).origin).not.toBe(new URL(life.url).origin);
    await first.getByRole('button', { name: 'End it' }).click();
    await first.getByRole('button', { name: 'End it with all that it started' }).click();
    await first.getByText(/– ended/).waitFor();
    expect((await only()).id).toBe(id);
  });
});
