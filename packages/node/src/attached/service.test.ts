import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError, type Caller } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { ATTACHED_KEPT, ATTACHED_SESSIONS, ATTACHED_SILENT_MS } from './limits.ts';
import { createLog } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createAttached, type Attached } from './service.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const ann: Caller = { name: 'ann', scope: 'operator', token: 'tok_ann' };
const bob: Caller = { name: 'bob', scope: 'operator', token: 'tok_bob' };
const owner: Caller = { name: 'owner', scope: 'owner', token: 'tok_owner' };

describe('an attached session', () => {
  let directory = '';
  let store: Store;
  let nowMs = 0;
  const clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs };
  const start = (): Attached =>
    createAttached({
      ...{ store, clock, ids: createIds({ clock, random: systemRandom }) },
      checkHarness: (harness) => {
        if (harness !== 'claude') throw new OrreryError('unknown_name', `There is no harness ${harness}.`);
      },
      keepAgent: async (name) => JSON.stringify({ name, source: 'user', path: `${name}.md`, hash: 'abc', prompt: 'You review.' }),
    });
  let attached: Attached;
  beforeEach(async () => {
    nowMs = 1_000_000;
    directory = await mkdtemp(join(tmpdir(), 'orrery-attached-'));
    store = await openStore({ file: join(directory, 'orrery.db'), clock, log, startWriter: startInlineWriter });
    attached = start();
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const events = async (): Promise<unknown[]> =>
    (await store.events({ after: 0, limit: 100 })).flatMap(({ body }) => (body.kind === 'attached.changed' ? [body.state] : []));

  it('is an identity of a program, in the list and in the audit, and its request makes it once', async () => {
    const asked = { harness: 'claude', agent: 'reviewer', folder: '/home/ann/app', requestId: 'one' };
    const made = await attached.begin(asked, ann);
    expect(made).toEqual({
      ...{ id: made.id, seq: made.seq, name: `claude-${made.id.slice(-6)}`, state: 'attached', reason: null },
      ...{ harness: 'claude', agent: { name: 'reviewer', source: 'user', path: 'reviewer.md', hash: 'abc' }, program: null },
      ...{ folder: '/home/ann/app', by: 'ann', heardAt: '1970-01-01T00:16:40.000Z', createdAt: '1970-01-01T00:16:40.000Z' },
      ...{ endedAt: null, replayed: false },
    });
    expect(made.id).toMatch(/^ses_/);
    expect(await attached.begin(asked, ann)).toEqual({ ...made, replayed: true });
    await expect(attached.begin({ ...asked, harness: undefined }, ann)).rejects.toMatchObject({ code: 'request_conflict' });
    await expect(attached.begin({ harness: 'clade' }, ann)).rejects.toMatchObject({ code: 'unknown_name' });
    expect((await attached.list({ limit: 10 })).items.map(({ id }) => id)).toEqual([made.id]);
    expect((await attached.hear(made.name, { program: 'Claude Code 2.1.0' }, ann)).program).toBe('Claude Code 2.1.0');
    expect((await attached.leave(made.id.slice(0, 20), ann)).reason).toBe('its process ended');
    expect((await attached.list({ limit: 10, state: 'attached' })).items).toEqual([]);
    expect(await events()).toEqual(['attached', 'attached', 'ended']);
    expect((await listAudit(store.read, { limit: 5 })).map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['token:ann', 'session.detach', made.id],
      ['token:ann', 'session.attach', made.id],
    ]);
  });

  it('ends when its process is silent too long, and not a moment before', async () => {
    const { id } = await attached.begin({}, ann);
    nowMs += ATTACHED_SILENT_MS;
    await attached.look();
    expect((await attached.show(id)).state).toBe('attached');
    await attached.hear(id, {}, ann);
    nowMs += ATTACHED_SILENT_MS + 1;
    await attached.look();
    expect(await attached.show(id)).toMatchObject({ state: 'ended', reason: 'its process was not heard of for 15 seconds' });
    await expect(attached.hear(id, {}, ann)).rejects.toMatchObject({ code: 'conflict', details: { ended: id } });
    expect((await listAudit(store.read, { limit: 1 }))[0]).toMatchObject({
      actor: 'node',
      action: 'session.detach',
      subject: id,
    });
    expect(await attached.stateOf(id)).toBe('ended');
  });

  it('lives over a restart of the node, which gives it as long as ever to be heard of', async () => {
    const { id } = await attached.begin({}, ann);
    nowMs += 3_600_000;
    const again = start();
    await again.look();
    expect(await again.show(id)).toMatchObject({ state: 'attached', heardAt: null });
    nowMs += ATTACHED_SILENT_MS + 1;
    await again.look();
    expect((await again.show(id)).state).toBe('ended');
  });

  it('is spoken for by the token it came with and by the owner, and by nobody else', async () => {
    const { id } = await attached.begin({}, ann);
    await attached.checkIts(id, ann);
    await attached.checkIts(id, owner);
    for (const refused of [attached.hear(id, {}, bob), attached.leave(id, bob), attached.checkIts(id, bob)])
      await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
    await expect(attached.checkIts('ses_nobody', ann)).rejects.toMatchObject({ code: 'not_found' });
    await attached.leave(id, ann);
    await expect(attached.checkIts(id, ann)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('says in three lines that nobody prompts or stops it', async () => {
    const { id, name } = await attached.begin({ harness: 'claude', program: 'Claude Code 2.1.0' }, ann);
    const refused = await attached.refuse(name).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'unsupported', details: { attached: id } });
    expect((refused as OrreryError).toLines()).toEqual([
      `The session ${name} is attached: Claude Code 2.1.0 was started outside Orrery.`,
      'The node neither starts, prompts nor stops an attached program, and keeps no log of it; its life is its process.',
      'Say it in that program itself. Who is attached: orrery session list',
    ]);
    await attached.refuse('ses_nobody');
    expect(await attached.stateOf(name)).toBeNull();
  });

  it('is one of a bounded number, and of those that ended the newest are listed', async () => {
    for (let count = 0; count < ATTACHED_SESSIONS; count++) await attached.begin({}, ann);
    await expect(attached.begin({}, ann)).rejects.toMatchObject({ code: 'limit_reached' });
    nowMs += ATTACHED_SILENT_MS + 1;
    await attached.look();
    const row = await store.read.selectFrom('attached_session').selectAll().limit(1).executeTakeFirstOrThrow();
    await store.transaction(async (tx) => {
      for (let count = 0; count < ATTACHED_KEPT; count++)
        await tx.db
          .insertInto('attached_session')
          .values({ ...row, key: 10_000 + count, id: `ses_old${count}`, request_id: `old${count}` })
          .execute();
    });
    await attached.begin({}, ann);
    expect((await store.read.selectFrom('attached_session').select('id').execute()).length).toBe(ATTACHED_KEPT + 1);
    expect(await attached.stateOf(row.id)).toBeNull();
  });
});
