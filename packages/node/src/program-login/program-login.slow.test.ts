/** Logins of agent programs: the real Codex against an issuer that speaks its wire, and the tokens of Claude Code. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLoginIssuer, type TestLoginIssuer } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecrets } from '../config/secrets.ts';
import { createHarnessPrograms } from '../harness/install.ts';
import { builtinHarnesses, createHarnessRegistry } from '../harness/registry.ts';
import { withDeclared } from '../harness/turn/declared.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { directSpawner } from '../kernel/spawner.ts';
import { createProgramLogins, type ProgramLogins } from './index.ts';

const programs = createHarnessPrograms({
  directory: process.env['ORRERY_TEST_PROGRAMS'] ?? join(import.meta.dirname, '../../../../.tools/programs'),
});
const codexProgram = await programs.installed('codex');
if (codexProgram === null) process.stderr.write('SKIPPED: codex is not installed; nothing here says that its login works.\n');

const CLAUDE_TOKEN = `sk-ant-oat01-${'canary'.repeat(8)}`;

describe('logins of agent programs', () => {
  let issuer: TestLoginIssuer;
  let directory: string;
  let logins: ProgramLogins;
  const logged: string[] = [];
  const recorded: string[] = [];
  const settings = { use: true };
  const disk = { full: false };
  const clock = { nowMs: () => systemClock.nowMs() };
  const kept = () => readFileSync(join(directory, 'secrets.json'), 'utf8');
  const left = () =>
    existsSync(join(directory, 'logins')) ? readdirSync(join(directory, 'logins')).filter((name) => name !== '.trash') : [];

  beforeEach(async () => {
    issuer = await startLoginIssuer();
    directory = mkdtempSync(join(tmpdir(), 'orrery-login-'));
    settings.use = true;
    recorded.length = 0;
    disk.full = false;
    const secrets = createSecrets({
      file: join(directory, 'secrets.json'),
      keyFile: join(directory, 'secret.key'),
      env: {},
      random: systemRandom,
      clock: systemClock,
    });
    logins = createProgramLogins({
      secrets: { ...secrets, set: (name, value) => (disk.full ? Promise.reject(new Error('ENOSPC')) : secrets.set(name, value)) },
      harness: createHarnessRegistry(withDeclared(builtinHarnesses, {})).get,
      program: programs.installed,
      settings: () => ({ ...settings, issuer: issuer.url }),
      hasKey: async (provider) => provider === 'google',
      directory: join(directory, 'logins'),
      spawner: directSpawner,
      record: async ({ actor, action, harness }) => void recorded.push(`${actor} ${action} ${harness}`),
      clock,
      log: createLog({ sink: { write: (line) => void logged.push(line), close: () => undefined }, clock: systemClock }),
    });
  });
  afterEach(async () => {
    clock.nowMs = () => systemClock.nowMs();
    await logins.close();
    await issuer.stop();
    rmSync(directory, { recursive: true });
  });

  const codexIn = async (): Promise<void> => {
    issuer.approve();
    await logins.begin('codex', 'token:ann');
    await expect.poll(async () => (await logins.view('codex')).state, { timeout: 20_000 }).toBe('kept');
  };
  const bearer = async (): Promise<string | undefined> =>
    (await logins.payment({ harness: 'codex', provider: 'openai' }))?.headers({})['authorization'];

  describe.skipIf(codexProgram === null)('by a code', () => {
    it('shows where a person goes, waits there, and keeps what the program was given, sealed and nowhere else', async () => {
      const begun = await logins.begin('codex', 'token:ann');
      expect(begun).toMatchObject({ state: 'waiting', paidBy: 'nothing', code: issuer.code, url: `${issuer.url}/codex/device` });
      expect(await logins.begin('codex', 'token:ann')).toEqual(begun);
      expect(issuer.asked.filter((line) => line.endsWith('/usercode'))).toHaveLength(1);
      issuer.approve();
      await expect.poll(async () => (await logins.view('codex')).state, { timeout: 20_000 }).toBe('kept');
      expect(await logins.view('codex')).toMatchObject({
        paidBy: 'login',
        who: 'person@example.org (plus)',
        code: null,
        problem: null,
      });
      expect(left()).toEqual([]);
      expect(recorded).toEqual(['token:ann harness.login codex']);
      const [token = 'none'] = issuer.given;
      expect(await bearer()).toBe(`Bearer ${token}`);
      const payment = await logins.payment({ harness: 'codex', provider: 'openai' });
      expect(payment?.headers({})['chatgpt-account-id']).toBe('account-1');
      expect(payment?.path('/v1/responses')).toBe('/responses');
      expect(payment?.path('/v1/chat/completions')).toBeNull();
      expect(kept() + logged.join('') + JSON.stringify(await logins.view('codex'))).not.toContain(token);
    });

    it('ends with its program when it is forgotten while it waits, and keeps nothing', async () => {
      await logins.begin('codex', 'token:ann');
      expect(await logins.forget('codex', 'token:ann')).toMatchObject({ state: 'none', paidBy: 'nothing', problem: null });
      expect(left()).toEqual([]);
    });

    it('says what the program said when it came to nothing', async () => {
      await issuer.stop();
      await expect(logins.begin('codex', 'token:ann')).rejects.toMatchObject({
        code: 'login_failed',
        fix: 'orrery harness login codex',
      });
      expect(await logins.view('codex')).toMatchObject({ state: 'none', problem: expect.stringContaining('came to nothing') });
      expect(left()).toEqual([]);
    });

    it('replaces an access token once before it ends, however many calls ask at once, and keeps the next before it is used', async () => {
      issuer.lasts(60);
      await codexIn();
      issuer.lasts(3_600);
      const all = await Promise.all(Array.from({ length: 5 }, bearer));
      expect(new Set(all)).toEqual(new Set([`Bearer ${issuer.given[1]}`]));
      expect(issuer.asked.filter((line) => line === 'POST /oauth/token')).toHaveLength(2);
      expect(await bearer()).toBe(`Bearer ${issuer.given[1]}`);
    });

    it('replaces one that its provider does not know any more, before the next call', async () => {
      await codexIn();
      (await logins.payment({ harness: 'codex', provider: 'openai' }))?.refused();
      expect(await bearer()).toBe(`Bearer ${issuer.given[1]}`);
      expect(await bearer()).toBe(`Bearer ${issuer.given[1]}`);
    });

    it('is not lost when the disk is full while it is renewed: it pays, and is kept when there is room', async () => {
      issuer.lasts(60);
      await codexIn();
      issuer.lasts(3_600);
      const before = kept();
      disk.full = true;
      expect(await bearer()).toBe(`Bearer ${issuer.given[1]}`);
      expect(kept()).toBe(before);
      disk.full = false;
      expect(await bearer()).toBe(`Bearer ${issuer.given[1]}`);
      expect(kept()).not.toBe(before);
      expect(issuer.given).toHaveLength(2);
    });

    it('is over when its issuer says so, and only then: one that is away ends nothing', async () => {
      issuer.lasts(60);
      await codexIn();
      issuer.behave('unwell');
      await expect(bearer()).rejects.toMatchObject({ code: 'login_unreachable' });
      expect(await logins.view('codex')).toMatchObject({ state: 'kept' });
      issuer.behave('revoked');
      await expect(bearer()).rejects.toMatchObject({ code: 'login_failed', fix: 'orrery harness login codex' });
      const asked = issuer.asked.length;
      await expect(bearer()).rejects.toMatchObject({ code: 'login_failed' });
      expect(issuer.asked).toHaveLength(asked);
      expect(await logins.view('codex')).toMatchObject({
        state: 'ended',
        problem: expect.stringContaining('does not take it any more'),
      });
    });
  });

  it('takes the token that Claude Code prints, and nothing that is none', async () => {
    for (const wrong of [
      'sk-ant-api03-abcdefghijklmnopqrstuvwxyz',
      'x',
      `${CLAUDE_TOKEN}\nx`,
      `sk-ant-oat01-${'x'.repeat(1_500)}`,
    ])
      await expect(logins.accept('claude', wrong, 'token:ann')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await logins.accept('claude', `${CLAUDE_TOKEN}\n`, 'token:ann')).toMatchObject({ state: 'kept', paidBy: 'login' });
    const payment = await logins.payment({ harness: 'claude', provider: 'anthropic' });
    expect(payment?.headers({ 'anthropic-beta': 'one, two' })).toEqual({
      authorization: `Bearer ${CLAUDE_TOKEN}`,
      'anthropic-beta': 'one,two,oauth-2025-04-20',
    });
    expect(kept()).not.toContain('canary');
    expect(recorded).toEqual(['token:ann harness.login claude']);
    expect(await logins.forget('claude', 'token:ann')).toMatchObject({ state: 'none', paidBy: 'nothing' });
    expect(await logins.payment({ harness: 'claude', provider: 'anthropic' })).toBeNull();
  });

  it('pays for the program that it is of and its provider alone, and not where the operator says so', async () => {
    await logins.accept('claude', CLAUDE_TOKEN, 'token:ann');
    expect(await logins.payment({ harness: 'pi', provider: 'anthropic' })).toBeNull();
    expect(await logins.payment({ harness: 'claude', provider: 'openai' })).toBeNull();
    settings.use = false;
    expect(await logins.payment({ harness: 'claude', provider: 'anthropic' })).toBeNull();
    expect(await logins.view('claude')).toMatchObject({ state: 'kept', paidBy: 'nothing' });
  });

  it('says of every other program why it cannot be logged in, and what pays instead', async () => {
    for (const id of ['gemini', 'copilot', 'qwen', 'opencode', 'pi', 'command']) {
      expect(await logins.view(id)).toMatchObject({ ways: [], account: null, problem: expect.stringMatching(/\w/) });
      await expect(logins.begin(id, 'token:ann')).rejects.toMatchObject({ code: 'unsupported' });
      await expect(logins.accept(id, CLAUDE_TOKEN, 'token:ann')).rejects.toMatchObject({ code: 'unsupported' });
    }
    expect(await logins.view('gemini')).toMatchObject({ paidBy: 'key' });
    expect(await logins.view('cursor')).toMatchObject({ paidBy: 'own', problem: expect.stringContaining('your own program') });
    expect(await logins.view('command')).toMatchObject({ paidBy: 'nobody' });
    await expect(logins.begin('claude', 'token:ann')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(logins.accept('codex', CLAUDE_TOKEN, 'token:ann')).rejects.toMatchObject({ code: 'unsupported' });
  });
});
