/** Ports of environments in a browser: at an origin of their own, and never another's program. */
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type { Client } from '@orrery/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { chromium, startChromium } from './support/chromium.ts';
import { commandsOn } from './support/commands.ts';
import { devServer } from './support/dev-server.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { dial, look, previewsOn } from './support/preview.ts';
import { eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const toolPaths = [dirname(dirname(process.execPath))];
const place = placeOfSuite({
  execution: { options: { sandbox: { toolPaths }, bubblewrap: { toolPaths } } },
  listen: { previewPort: 0 },
});
let life: Life;
let client: Client;
beforeAll(async () => {
  life = await place.up();
  client = place.client(life);
});
const { send } = commandsOn(place, () => client);

const { preview, entered } = previewsOn(place);

/** A task whose program listens, and the port inside. */
const serving = async (name: string, backend: string, port = 0): Promise<{ readonly id: string; readonly port: string }> => {
  const id = await send(devServer(name, port), { backend });
  await printed(client, id, '.\n');
  return { id, port: /port (\d+)\./.exec(textOf(await eventsOf(client, id)))?.[1] ?? '' };
};

describe.each(['local', 'sandbox'])('a preview on %s', (backend) => {
  it('shows the program of its own environment, its WebSockets too, until the environment ends', async () => {
    const { id, port } = await serving('mine', backend);
    const { origin, cookie } = await entered(id, port);
    expect(await look(`${origin}/`, { cookie })).toMatchObject({
      status: 200,
      body: expect.stringContaining('mine'),
      cookie: 'theirs=1',
    });
    const heard = JSON.parse((await look(`${origin}/heard`, { cookie, origin })).body) as Record<string, string>;
    expect([heard['host'], heard['origin'], heard['cookie']]).toEqual([
      `localhost:${port}`,
      `http://localhost:${port}`,
      undefined,
    ]);
    const upload = dial(`${origin}/upload`, { cookie, 'content-length': '3000000' });
    upload.end(Buffer.alloc(3_000_000));
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('3000000');
    const upgrade = dial(`${origin}/`, {
      ...{ cookie, connection: 'upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    }).end();
    const [, socket] = await once(upgrade, 'upgrade');
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    expect(Buffer.from((await once(socket, 'data'))[0])).toEqual(Buffer.from([0x81, 2, 0x68, 0x69]));
    const closed = once(socket, 'close');
    await client.call('taskCancel', { params: { id }, body: {} });
    await taskEnd(client, id);
    await closed;
    const gone = await look(`${origin}/`, { cookie });
    expect([gone.status, gone.body]).toEqual([502, expect.stringContaining('has no open environment')]);
  });

  it('leads to nobody else, and lets no page into the node', async () => {
    const mine = await serving('mine', backend);
    const other = await serving('other', backend);
    const wrong = await entered(mine.id, other.port);
    expect(await look(`${wrong.origin}/`, { cookie: wrong.cookie })).toMatchObject({
      status: 502,
      body: expect.stringContaining('No program of the environment'),
    });
    const [own, others] = [await entered(mine.id, mine.port), await preview(other.id, other.port)];
    expect((await look(`${others.origin}/`, { cookie: own.cookie })).status).toBe(401);
    const api = `${life.url}/api/v1/node`;
    expect((await look(api, { cookie: own.cookie })).status).toBe(401);
    expect((await look(api, { cookie: own.cookie, origin: own.origin })).status).toBe(403);
    expect((await look(api, { cookie: own.cookie, host: new URL(own.origin).host })).status).toBe(403);
    await Promise.all([mine, other].map(({ id }) => client.call('taskCancel', { params: { id }, body: {} })));
  });
});

it('the command opens the link in the browser by way of a file, and says what is wrong', async () => {
  const { id, port } = await serving('shown', 'local');
  const script = join(place.folder, 'browser');
  writeFileSync(script, `#!/bin/sh\ncp "$1" '${place.folder}/seen'\n`, { mode: 0o755 });
  const answer = await place.cli(['env', 'preview', id, port, '--open'], { env: { BROWSER: script } });
  const link = answer.stdout.trim();
  expect([answer.code, link]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/env-[0-9a-z]{26}-\d+\.localhost:\d+\/\.orrery\/preview\?key=/),
  ]);
  const seen = await waitFor('the browser has seen it', () => {
    const file = readFileSync(join(place.folder, 'seen'), 'utf8');
    return file === '' ? null : file;
  });
  expect(seen).toContain(link);
  const none = await place.cli(['env', 'preview', id]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Say the number of a port')]);
  await client.call('taskCancel', { params: { id }, body: {} });
  await taskEnd(client, id);
  const ended = await place.cli(['env', 'preview', id, port]);
  expect([ended.code, ended.stderr]).toEqual([8, expect.stringContaining('has no open environment')]);
});

describe.skipIf(chromium === null)('in Chromium', () => {
  it('the page loads, its WebSocket echoes, and it reaches neither another preview nor the node', async () => {
    const one = await serving('one', 'sandbox', 3000);
    const two = await serving('two', 'sandbox', 3000);
    const browser = await startChromium(chromium ?? '', join(place.folder, 'profile'));
    onTestFinished(() => browser.close());
    const shown = async (id: string) => {
      const { link, origin } = await preview(id, '3000');
      const tab = await browser.open(link);
      return { tab, origin };
    };
    const [first, second] = [await shown(one.id), await shown(two.id)];
    for (const [{ tab, origin }, title] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      await waitFor(`the page ${title}`, async () => ((await tab.evaluate('document.title')) === title ? title : null), 90_000);
      expect(await tab.evaluate('location.href + " " + document.cookie')).toBe(`${origin}/ theirs=1`);
    }
    expect(
      await first.tab.evaluate(
        `new Promise((done) => { const s = new WebSocket('ws://' + location.host); s.onopen = () => s.send('hi'); s.onmessage = ({ data }) => done(data); s.onerror = () => done('failed'); })`,
      ),
    ).toBe('hi');
    const fetched = (url: string, mode: string) =>
      first.tab.evaluate(
        `fetch(${JSON.stringify(url)}, { credentials: 'include', mode: '${mode}' }).then((a) => a.type + a.status, () => 'refused')`,
      );
    expect(await fetched(`${life.url}/api/v1/node`, 'cors')).toBe('refused');
    expect(await fetched(`${second.origin}/`, 'cors')).toBe('refused');
    expect(await fetched(`${second.origin}/`, 'no-cors')).toBe('opaque0');
    // Whatever the browser sent there, the program of the other was asked once: by its own page.
    expect(await second.tab.evaluate(`fetch('/hits').then((a) => a.text())`)).toBe('1');
    await Promise.all([one, two].map(({ id }) => client.call('taskCancel', { params: { id }, body: {} })));
  });
});
