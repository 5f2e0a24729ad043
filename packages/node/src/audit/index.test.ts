import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { appendAudit, auditHandlers, listAudit } from './index.ts';

describe('the audit', () => {
  let directory = '';
  let store: Store;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-audit-'));
    const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('keeps records in order and gives them back whole, page by page', async () => {
    await store.transaction(async ({ db }) => {
      await appendAudit(
        db,
        { actor: 'token:owner', action: 'token.create', subject: 'tok_1', outcome: 'done', detail: { scope: 'viewer' } },
        10,
      );
      await appendAudit(db, { actor: 'node', action: 'token.remove', subject: 'tok_1', outcome: 'refused' }, 20);
    });
    const first = {
      id: 1,
      at: 10,
      actor: 'token:owner',
      action: 'token.create',
      subject: 'tok_1',
      outcome: 'done',
      detail: { scope: 'viewer' },
    };
    const second = { id: 2, at: 20, actor: 'node', action: 'token.remove', subject: 'tok_1', outcome: 'refused', detail: {} };
    expect(await listAudit(store.read, { limit: 10 })).toEqual([second, first]);
    expect(await listAudit(store.read, { limit: 10, before: 2 })).toEqual([first]);
  });

  it('answers what is asked for: an action or its whole word, an actor, an outcome, a page', async () => {
    const add = (action: string, actor: string, outcome: 'done' | 'refused') =>
      store.transaction((tx) => appendAudit(tx.db, { actor, action, subject: 'env_1', outcome }, 10));
    await add('egress.allow', 'token:owner', 'done');
    await add('egress.deny', 'token:owner', 'done');
    await add('egressive', 'token:other', 'refused');
    await add('egress', 'token:other', 'refused');
    const { auditList } = auditHandlers(store);
    const list = async (query: object) =>
      auditList({
        query: { limit: 50, ...query },
        params: {},
        body: undefined,
        caller: { name: 'owner', scope: 'owner' },
      });
    const ids = async (query: object) => (await list(query)).items.map(({ id }) => id);
    expect(await ids({})).toEqual([4, 3, 2, 1]);
    expect(await ids({ action: 'egress' })).toEqual([4, 2, 1]);
    expect(await ids({ action: 'egress.deny' })).toEqual([2]);
    expect(await ids({ actor: 'token:other', outcome: 'refused' })).toEqual([4, 3]);
    const first = await list({ limit: 3 });
    expect([first.nextCursor, await ids({ limit: 3, cursor: first.nextCursor })]).toEqual(['2', [1]]);
    await expect(list({ cursor: 'not one' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('has no record of what was rolled back', async () => {
    const failing = store.transaction(async ({ db }) => {
      await appendAudit(db, { actor: 'node', action: 'x', subject: 'y', outcome: 'done' }, 10);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await listAudit(store.read, { limit: 10 })).toEqual([]);
  });
});
