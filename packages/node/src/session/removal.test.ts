import { describe, expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result } from '../../test/talking-scene.ts';
import { removeSession, type RemovalParts } from './removal.ts';

const { scene, begin, given, stateIs, turnIs } = createScene();

const dropped: string[] = [];
const forgotten: string[] = [];

const partsWith = (more: Partial<RemovalParts> = {}): RemovalParts => ({
  ...{ store: scene.place.store, clock: scene.place.clock, sessions: scene.node.sessions, attachments: '/nowhere' },
  unsavedIn: async () => null,
  removeAsked: async (tx, id) => void (await tx.db.deleteFrom('interaction').where('session_id', '=', id).execute()),
  dropConversation: async (id) => void forgotten.push(id),
  dropCheckpoints: async (rows) => void dropped.push(...rows.map(({ ref }) => ref)),
  ...more,
});
const remove = (reference: string, more: Partial<RemovalParts> = {}): Promise<void> => removeSession(partsWith(more), reference);

/** A session with one turn behind it that has ended. */
const over = async (requestId: string, name = 'old'): Promise<string> => {
  const { id } = await begin({ requestId, name });
  const talker = await given('one');
  const text = {
    type: 'assistant',
    message: { id: 'm1', role: 'assistant', content: [{ type: 'text', text: 'a rare pomegranate' }] },
  };
  talker.say(init, echo('one'), { ...text, session_id: 'c1' }, result);
  await turnIs(id, 'one', 'ended');
  await scene.node.sessions.leave(id, 'end');
  talker.end(0);
  await stateIs(id, 'ended');
  return id;
};

/** Rows that a session has left in each table that names one. */
const leftOf = async (id: string): Promise<Record<string, number>> => {
  const { read } = scene.place.store;
  const tables = [
    'turn',
    'session_frame',
    'session_run',
    'session_checkpoint',
    'session_detail',
    'attachment',
    'interaction',
  ] as const;
  const counted = await Promise.all(
    tables.map(async (table) => [
      table,
      (await read.selectFrom(table).select('session_id').where('session_id', '=', id).execute()).length,
    ]),
  );
  return Object.fromEntries(counted.filter(([, count]) => count !== 0));
};

describe('a session that is deleted', () => {
  it('is gone with its log and its words, and the node says so', async () => {
    const id = await over('first');
    const { sessions } = scene.node;
    expect((await sessions.transcripts.search({ q: 'pomegranate', limit: 10 })).items).toHaveLength(1);
    const before = scene.place.store.seq();
    await remove(id);
    expect(await leftOf(id)).toEqual({});
    expect((await sessions.transcripts.search({ q: 'pomegranate', limit: 10 })).items).toEqual([]);
    const after = await scene.place.store.events({ after: before, limit: 10 });
    expect(after.map(({ body }) => body)).toEqual([{ kind: 'session.removed', sessionId: id }]);
    expect((await scene.place.store.events({ after: 0, limit: 1000 })).filter(({ sessionId }) => sessionId === id)).toEqual([]);
    expect(dropped.length).toBeGreaterThan(0);
  });

  it('is told apart from one that never was', async () => {
    const id = await over('first');
    await remove(id);
    const { sessions } = scene.node;
    expect(await codeOf(sessions.show(id))).toBe('history_expired');
    expect(await codeOf(sessions.show(id.slice(0, 20)))).toBe('history_expired');
    expect(await codeOf(remove(id))).toBe('history_expired');
    expect(await codeOf(sessions.show('ses_00000000000000000000000000'))).toBe('not_found');
    expect(await codeOf(sessions.show('old'))).toBe('not_found');
  });

  it('leaves its requests: none is done again, neither by its id nor by a name that is used again', async () => {
    const id = await over('first');
    await remove(id);
    const { sessions } = scene.node;
    expect(await codeOf(begin({ requestId: 'first', name: 'old' }))).toBe('history_expired');
    const again = await begin({ requestId: 'second', name: 'old' });
    await given('one');
    const asked = { text: 'two', kind: 'prompt', requestId: 'first.prompt' } as const;
    expect(await codeOf(sessions.addTurn(id, asked))).toBe('history_expired');
    expect(await codeOf(sessions.addTurn('old', asked))).toBe('history_expired');
    // An id is one session, and this one never had that request.
    expect((await sessions.addTurn(again.id, asked)).replayed).toBe(false);
    expect((await sessions.addTurn('old', asked)).replayed).toBe(true);
  });

  it('is refused while it lives, and while an input waits for a word', async () => {
    const { id } = await begin({ name: 'young' });
    const talker = await given('one');
    expect(await codeOf(remove(id))).toBe('conflict');
    talker.end(0);
    await turnIs(id, 'one', 'uncertain');
    await expect(remove(id)).rejects.toMatchObject({
      fix: expect.stringMatching(/^orrery session decide young trn_\w+ discard$/),
    });
    expect((await scene.node.sessions.show(id)).name).toBe('young');
  });

  it('is refused while its own environment holds work that nothing else has, unless another session is there', async () => {
    const id = await over('first');
    await scene.place.store.transaction(
      async (tx) => void (await tx.db.updateTable('session').set({ owns_environment: 1 }).where('id', '=', id).execute()),
    );
    const unsavedIn = async () => ({ name: 'place', reasons: ['commits'] });
    expect(await codeOf(remove(id, { unsavedIn }))).toBe('unsaved_work');
    expect((await scene.node.sessions.turns(id)).length).toBe(1);
    await begin({ requestId: 'second', name: 'other' });
    expect(await codeOf(remove(id, { unsavedIn }))).toBe('none');
  });
});
