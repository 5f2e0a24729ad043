import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium as launcher, type Page } from 'playwright-core';
import { chromium } from '../e2e/support/chromium.ts';
import { talkerOf } from '../e2e/support/talker.ts';
import { spreadOf, timed, within, type Benchmark, type Report, type Row } from './benchmark.ts';
import { endKeepers, startNode, type RealNode } from './real-node.ts';
import { makeRepository, talk } from './talking.ts';

const ROWS = 100_000;
const SESSIONS = 200;
const SESSION_ROWS = 300;
/** How long a transcript is scrolled, and how far with each frame. */
const SCROLL_MS = 5_000;
const STEP_PX = 120;

const LOG = `document.querySelector('[role="log"]')`;

/** Scrolls something with each frame and answers how long each frame took, ms. */
const frames = (page: Page, what: string): Promise<number[]> =>
  page.evaluate(`new Promise((done) => {
    const box = ${what};
    const taken = [];
    let last = null;
    const from = performance.now();
    const frame = (now) => {
      if (last !== null) taken.push(now - last);
      last = now;
      box.scrollTop -= ${STEP_PX};
      if (now - from < ${SCROLL_MS}) requestAnimationFrame(frame);
      else done(taken);
    };
    requestAnimationFrame(frame);
  })`);

/** A page with nothing but text of the same size: what this browser can do on this machine. */
const bareFrames = async (page: Page): Promise<number[]> => {
  await page.setContent('<div id="box" style="height:100vh;overflow-y:auto"></div>');
  await page.evaluate(`(() => {
    const box = document.getElementById('box');
    for (let line = 0; line < 2000; line++) box.append(Object.assign(document.createElement('p'), { textContent: 'line ' + line }));
    box.scrollTop = box.scrollHeight;
  })()`);
  return frames(page, `document.getElementById('box')`);
};

/** Memory of the page's scripts after a collection, MiB. */
const heapOf = async (page: Page): Promise<number> => {
  const tools = await page.context().newCDPSession(page);
  await tools.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await tools.send('Runtime.getHeapUsage')) as { usedSize: number };
  await tools.detach();
  return usedSize / 1024 / 1024;
};

const letIn = async (node: RealNode, page: Page): Promise<void> => {
  const { path } = await node.client.call('loginLink', { body: {} });
  await page.goto(new URL(path, node.url).href);
  await page.getByRole('button', { name: 'Let this browser in' }).click();
  await page.getByRole('link', { name: /^Inbox/ }).waitFor();
};

const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`(history.pushState({}, '', ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent('popstate')))`);

/** Opens a session in the page that is there, until its last line is seen, ms. */
const open = (page: Page, id: string, last: string): Promise<number> =>
  timed(async () => {
    await goTo(page, `/sessions/${id}`);
    await page.getByText(last, { exact: true }).waitFor();
  });

/** Reads a transcript from its end to its beginning, as a person who scrolls without a pause; answers how long it took, ms. */
const toBeginning = (page: Page): Promise<number> =>
  timed(async () => {
    while (!(await page.getByText('line 1', { exact: true }).isVisible())) {
      await page.evaluate(`void (${LOG}.scrollTop = 0)`);
      await sleep(20);
    }
  });

const late = (taken: readonly number[]): number => taken.filter((ms) => ms > 34).length;

type Scene = { readonly node: RealNode; readonly page: Page; readonly project: string };

/** Each of two sessions opened in turns: the long one and the small one. */
const opened = async (page: Page, long: string, small: string): Promise<Row> => {
  const openings: number[] = [];
  const bare: number[] = [];
  for (let times = 0; times < 5; times++) {
    bare.push(await open(page, small, 'line 1'));
    openings.push(await open(page, long, `line ${ROWS}`));
  }
  const what = `opening a transcript of ${ROWS.toLocaleString('en')} rows`;
  return { what, unit: 'ms', ours: spreadOf(openings), bare: spreadOf(bare), against: 'one of one row', goal: null };
};

const plainText = async (page: Page): Promise<number[]> => {
  const plain = await page.context().newPage();
  const taken = await bareFrames(plain);
  await plain.close();
  // A page behind another one is given a frame a second.
  await page.bringToFront();
  return taken;
};

const scrolling = (what: string, taken: readonly number[], bare: readonly number[]): Row => ({
  what: `a frame while ${what} is scrolled`,
  unit: 'ms',
  ours: spreadOf(taken),
  bare: spreadOf(bare),
  against: 'of a page of plain text',
  goal: { text: '≤ 1 in 100 late', met: late(taken) <= taken.length / 100 },
});

const told = (what: string, taken: readonly number[]): string =>
  `${late(taken)} of ${taken.length} ${what} (longest ${Math.max(...taken).toFixed(0)} ms)`;

const transcript = async ({ node, page, project }: Scene): Promise<Report> => {
  const small = await talk(node, project, 'brief');
  const long = await talk(node, project, 'talker');
  const bare = await plainText(page);
  await open(page, small, 'line 1');
  const heap = await heapOf(page);
  const opening = await opened(page, long, small);
  const atEnd = await frames(page, LOG);
  const took = await toBeginning(page);
  const memory = { ours: spreadOf([await heapOf(page)]), bare: spreadOf([heap]), against: 'before' };
  await page.evaluate(`void (${LOG}.scrollTop = ${LOG}.scrollHeight / 2)`);
  await sleep(500);
  const inMiddle = await frames(page, LOG);
  const all = [told('of plain text', bare), told('at the end', atEnd), told('with all of it', inMiddle)];
  return {
    rows: [
      opening,
      scrolling('its end', atEnd, bare),
      scrolling('all of it', inMiddle, bare),
      within({ what: 'memory of the page with all of it', unit: 'MiB', ...memory }, { below: 200 }),
    ],
    notes: [
      `Late frames (over 34 ms): ${all.join(', ')}.`,
      `From the end to the beginning, page by page: ${(took / 1000).toFixed(1)} s.`,
    ],
  };
};

const manySessions = async ({ node, page, project }: Scene): Promise<readonly Row[]> => {
  const ids: string[] = [];
  while (ids.length < SESSIONS) {
    const some = Array.from({ length: 10 }, () => talk(node, project, 'short'));
    ids.push(...(await Promise.all(some)));
  }
  await open(page, ids[0]!, `line ${SESSION_ROWS}`);
  const before = await heapOf(page);
  const taken: number[] = [];
  for (const id of ids) taken.push(await open(page, id, `line ${SESSION_ROWS}`));
  const first = spreadOf(taken.slice(0, 20));
  return [
    within(
      {
        what: `memory of the page after ${SESSIONS} sessions were opened in it`,
        unit: 'MiB',
        ours: spreadOf([await heapOf(page)]),
        bare: spreadOf([before]),
        against: 'after one',
      },
      { below: 200 },
    ),
    {
      what: 'opening the last 20 of them',
      unit: 'ms',
      ours: spreadOf(taken.slice(-20)),
      bare: first,
      against: 'the first 20',
      goal: null,
    },
  ];
};

const harnesses = (directory: string): object => {
  const of = (name: string, lines: number): object => {
    const own = join(directory, name);
    mkdirSync(own);
    return { [name]: Object.values(talkerOf(own, lines))[0] };
  };
  return { ...of('brief', 1), ...of('short', SESSION_ROWS), ...of('talker', ROWS) };
};

const inBrowser = async (node: RealNode, project: string): Promise<Report> => {
  if (chromium === null) throw new Error('Chromium is not installed.');
  const browser = await launcher.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    await letIn(node, page);
    const scene = { node, page, project };
    const { rows, notes } = await transcript(scene);
    return { rows: [...rows, ...(await manySessions(scene))], notes };
  } finally {
    await browser.close();
  }
};

/** Whether the web client stays quick and small with a long transcript and with many sessions. */
export const webScale: Benchmark = {
  name: 'web-scale',
  title: `the web client with a transcript of ${ROWS.toLocaleString('en')} rows, and with ${SESSIONS} sessions`,
  rounds: 1,
  run: async ({ directory }) => {
    const project = makeRepository(directory);
    const node = await startNode({ directory, config: { harnesses: harnesses(directory) } });
    try {
      await node.client.call('projectAdd', { body: { source: project } });
      return await inBrowser(node, project);
    } finally {
      await node.stop();
      endKeepers(directory);
    }
  },
};
