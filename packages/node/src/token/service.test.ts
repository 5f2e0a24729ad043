import { mkdtemp, readFile, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { createLog } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createTokens, type Tokens } from './service.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });

describe('tokens', () => {
  let directory = '';
  let store: Store;
  let tokens: Tokens;
  let nowMs = 1_000_000;
  let monotonicMs = 0;
  beforeEach(async () => {
    nowMs = 1_000_000;
    monotonicMs = 0;
    const clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => monotonicMs };
    directory = await mkdtemp(join(tmpdir(), 'orrery-token-'));
    store = await openStore({ file: join(directory, 'orrery.db'), clock, log, startWriter: startInlineWriter });
    tokens = createTokens({ store, clock, random: systemRandom, ids: createIds({ clock, random: systemRandom }), log });
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('let their caller in, are stored as a hash only, and stop working when revoked', async () => {
    const made = await tokens.create({ name: 'ci', scope: 'operator', expiresAtMs: null, actor: 'token:owner' });
    expect(made.token).toMatch(/^orr_operator_[0-9a-f]{64}$/);
    expect(await tokens.authenticate(`Bearer ${made.token}`)).toEqual({ name: 'ci', scope: 'operator', token: made.id });
    const stored = JSON.stringify(await store.read.selectFrom('token').selectAll().execute());
    expect(stored).not.toContain(made.token.slice(-64));
    await tokens.remove({ id: made.id, actor: 'token:owner' });
    await expect(tokens.authenticate(`Bearer ${made.token}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect((await listAudit(store.read, { limit: 5 })).map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['token:owner', 'token.remove', made.id],
      ['token:owner', 'token.create', made.id],
    ]);
  });

  it('give one answer for everything that is not a valid token', async () => {
    const made = await tokens.create({ name: 'short', scope: 'viewer', expiresAtMs: nowMs + 10, actor: 'node' });
    nowMs += 10;
    const wrong = [
      undefined,
      '',
      'Basic abc',
      'Bearer x',
      `Bearer orr_owner_${'0'.repeat(64)}`,
      `Bearer ${made.token}`,
      `Bearer ${made.token.replace('viewer', 'owner')}`,
    ];
    const answers = await Promise.all(
      wrong.map((header) =>
        tokens.authenticate(header).catch((thrown: { toBody(): unknown }) => JSON.stringify(thrown.toBody())),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"unauthenticated"');
  });

  it('write when they were last used, but not at each request', async () => {
    const made = await tokens.create({ name: 'ci', scope: 'viewer', expiresAtMs: null, actor: 'node' });
    const used = async (): Promise<string | null | undefined> => {
      await tokens.authenticate(`Bearer ${made.token}`);
      await store.transaction(async () => undefined);
      return (await tokens.list())[0]?.lastUsedAt;
    };
    expect(await used()).toBe(new Date(1_000_000).toISOString());
    nowMs += 30_000;
    expect(await used()).toBe(new Date(1_000_000).toISOString());
    nowMs += 31_000;
    expect(await used()).toBe(new Date(1_061_000).toISOString());
  });

  it('are limited in their rate, each alone, and say how long to wait', async () => {
    const one = await tokens.create({ name: 'one', scope: 'viewer', expiresAtMs: null, actor: 'node' });
    const other = await tokens.create({ name: 'other', scope: 'viewer', expiresAtMs: null, actor: 'node' });
    for (let n = 0; n < 600; n++) await tokens.authenticate(`Bearer ${one.token}`);
    await expect(tokens.authenticate(`Bearer ${one.token}`)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { retryAfterMs: 10 },
    });
    await expect(tokens.authenticate(`Bearer ${other.token}`)).resolves.toEqual({
      name: 'other',
      scope: 'viewer',
      token: other.id,
    });
    monotonicMs += 10;
    await expect(tokens.authenticate(`Bearer ${one.token}`)).resolves.toEqual({ name: 'one', scope: 'viewer', token: one.id });
  });

  it('begin with an owner token in a private file, made again only when it no longer works', async () => {
    const file = join(directory, 'owner.token');
    expect(await tokens.ensureOwnerToken(file)).toBe(true);
    const first = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await tokens.authenticate(`Bearer ${first}`)).toEqual({ name: 'owner', scope: 'owner', token: expect.any(String) });
    expect(await tokens.ensureOwnerToken(file)).toBe(false);
    await unlink(file);
    expect(await tokens.ensureOwnerToken(file)).toBe(true);
    expect((await readFile(file, 'utf8')).trim()).not.toBe(first);
  });

  it('never lose their last owner', async () => {
    const owner = await tokens.create({ name: 'owner', scope: 'owner', expiresAtMs: null, actor: 'node' });
    await tokens.create({ name: 'soon', scope: 'owner', expiresAtMs: nowMs + 5, actor: 'node' });
    await expect(tokens.remove({ id: owner.id, actor: 'token:owner' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(tokens.remove({ id: 'tok_none', actor: 'token:owner' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are not made with a past end', async () => {
    await expect(tokens.create({ name: 'old', scope: 'viewer', expiresAtMs: nowMs, actor: 'node' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});
