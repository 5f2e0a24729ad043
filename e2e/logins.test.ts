/** Subscriptions pay the calls of the program that they are of: the real Claude Code and Codex, logged in as a person does. */
import { execFileSync } from 'node:child_process';
import type { Client } from '@orrery/client';
import type { ScriptedModel } from '@orrery/scripted-model';
import { startLoginIssuer, type TestLoginIssuer } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, PROVIDER_KEY, scriptsOf } from './support/agents.ts';
import { chromium } from './support/chromium.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite, type Place } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { barriers, browserOfSuite, letIn, picture } from './support/web.ts';
import { taskEnd } from './support/wait.ts';

const TOKEN = `sk-ant-oat01-${'canary'.repeat(8)}`;
const END_MS = 100_000;

describe('a subscription', () => {
  const place: Place = placeOfSuite();
  let issuer: TestLoginIssuer;
  let model: ScriptedModel;
  let client: Client;
  let life: Life;
  const browser = browserOfSuite();
  let projectId: string;
  const work = async (harness: string) => {
    const { id } = await client.call('taskAdd', { body: { project: projectId, harness, prompt: `[look] at ${harness}` } });
    return taskEnd(client, id, END_MS);
  };
  /** What paid the calls since the model was called so often. */
  const paid = (from: number): readonly string[] => [
    ...new Set(
      model
        .log()
        .slice(from)
        .map(({ headers }) => String(headers['authorization'] ?? headers['x-api-key'])),
    ),
  ];

  beforeAll(async () => {
    issuer = await startLoginIssuer();
    model = await modelOfSuite(
      scriptsOf({ look: [{ shell: 'env; cat /proc/self/environ | tr "\\0" "\\n"; ls -a ~' }, { text: 'I looked.' }] }),
    );
    place.configure(
      configFor(model, { logins: { claude: { baseUrl: model.url }, codex: { baseUrl: `${model.url}/v1`, issuer: issuer.url } } }),
    );
    life = await place.up();
    client = place.client(life);
    const source = makeRepository(place, 'looked-at');
    ({ id: projectId } = await client.call('projectAdd', { body: { source } }));
  });
  afterAll(() => issuer.stop());

  it.skipIf(!isThere('claude'))('of Claude pays Claude Code by the token that its program prints', async () => {
    const said = await place.cli(['harness', 'login', 'claude'], { input: `${TOKEN}\n` });
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('paid by a Claude subscription') });
    const from = model.log().length;
    expect(await work('claude')).toMatchObject({ verdict: 'accepted' });
    expect(paid(from)).toEqual([`Bearer ${TOKEN}`]);
    const seen = model.log().slice(from);
    expect(seen.every(({ headers }) => String(headers['anthropic-beta']).includes('oauth-2025-04-20'))).toBe(true);
    expect(JSON.stringify(seen.map(({ body }) => body))).not.toContain(TOKEN);
  });

  it.skipIf(!isThere('codex'))(
    'of ChatGPT pays Codex by a code that is typed elsewhere, and is renewed by the node alone',
    async () => {
      issuer.lasts(60);
      const logging = place.cli(['harness', 'login', 'codex']);
      await expect.poll(() => issuer.asked.length, { timeout: 20_000 }).toBeGreaterThan(0);
      issuer.approve();
      const said = await logging;
      expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('logged in as person@example.org (plus)') });
      expect(said.stderr).toContain(issuer.code);
      issuer.lasts(3_600);
      const from = model.log().length;
      expect(await work('codex')).toMatchObject({ verdict: 'accepted' });
      expect(paid(from)).toEqual([`Bearer ${issuer.given[1] ?? 'none'}`]);
      expect(
        model
          .log()
          .slice(from)
          .every(({ headers }) => headers['chatgpt-account-id'] === 'account-1'),
      ).toBe(true);
    },
  );

  it.skipIf(!isThere('codex'))('that is over fails a task with its way out, and a key pays when it is forgotten', async () => {
    issuer.behave('revoked');
    issuer.lasts(30);
    await place.cli(['harness', 'logout', 'codex']);
    await place.cli(['harness', 'login', 'codex']);
    const from = model.log().length;
    const failed = await work('codex');
    expect(failed).toMatchObject({ verdict: 'failed', cause: 'auth' });
    expect(failed.reason).toContain('harness login codex');
    expect(model.log()).toHaveLength(from);
    expect(await place.cli(['harness', 'show', 'codex'])).toMatchObject({ stdout: expect.stringContaining('a login') });
    expect(await place.cli(['harness', 'logout', 'codex'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('paid by a key'),
    });
    expect(await work('codex')).toMatchObject({ verdict: 'accepted' });
    expect(paid(from)).toEqual([`Bearer ${PROVIDER_KEY}`]);
  });

  it.skipIf(!isThere('codex') || chromium === null)('is begun and forgotten in a browser, too, by the owner', async () => {
    issuer.behave('well');
    issuer.lasts(3_600);
    issuer.approve(false);
    const page = await browser.open({ viewport: { width: 390, height: 800 } });
    await letIn(place, page);
    await page.goto(`${life.url}/agents`);
    await page.getByText('What codex can, and who pays it').click();
    const login = page.getByRole('region', { name: 'Login of codex' });
    await login.getByRole('button', { name: 'Log in by a code' }).click();
    await login.getByText(issuer.code).waitFor();
    await picture(page, 'login-phone');
    expect(await barriers(page)).toEqual([]);
    issuer.approve();
    await login.getByText('logged in to a ChatGPT subscription as person@example.org (plus)').waitFor();
    await page.getByText('paid by a login').first().waitFor();
    await login.getByRole('button', { name: 'Log out …' }).click();
    await login.getByRole('button', { name: 'Log out', exact: true }).click();
    await login.getByRole('button', { name: 'Log in by a code' }).waitFor();
    await page.getByText('What claude can, and who pays it').click();
    await page.getByRole('region', { name: 'Login of claude' }).getByText('setup-token').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it('stands nowhere in what the node writes', () => {
    for (const secret of [TOKEN, ...issuer.given, 'refresh-1']) {
      const found = execFileSync('sh', ['-c', 'grep -rlF -e "$1" "$2" || true', 'sh', secret, place.data], { encoding: 'utf8' });
      expect(found).toBe('');
    }
  });
});
