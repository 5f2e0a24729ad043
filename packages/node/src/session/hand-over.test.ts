import { describe, expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result, until, wordsOf } from '../../test/talking-scene.ts';

const { scene, begin, given, stateIs, turnIs, turnsOf, startAgain } = createScene();

/** A session with one turn behind it, and one input that its bound keeps waiting. */
const talked = async (prompt = 'one'): Promise<string> => {
  const { id } = await begin({ requestId: 'first', name: 'talk', maxTurns: 1, prompt });
  const talker = await given(prompt);
  const text = {
    type: 'assistant',
    message: { id: 'm1', role: 'assistant', content: [{ type: 'text', text: 'done, token ghp_' }] },
  };
  talker.say(init, echo(prompt), { ...text, session_id: 'c1' }, result);
  await turnIs(id, prompt, 'ended');
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 'second' });
  return id;
};

const to = { harness: 'talker', requestId: 'over' } as const;

describe('a conversation that is handed over', () => {
  it('goes on in a session of its own, under its name, with what waited and what is left of its bound', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    const heir = await sessions.handOver(id, { ...to, prompt: 'go on' });
    expect(heir).toMatchObject({
      name: 'talk',
      handedFrom: id,
      handedTo: null,
      budget: { turns: 0 },
      queued: 2,
      replayed: false,
    });
    scene.place.talkers.at(-1)?.end(0);
    expect(await stateIs(id, 'ended')).toMatchObject({ handedTo: heir.id, queued: 0 });
    expect((await turnsOf(heir.id)).map(({ text, state }) => [text, state])).toEqual([
      ['go on', 'pending'],
      ['two', 'pending'],
    ]);
    // Its name is its own again, and what was asked for twice is done once.
    expect((await sessions.find('talk')).id).toBe(heir.id);
    expect(await sessions.handOver(id, { ...to, prompt: 'go on' })).toMatchObject({ id: heir.id, replayed: true });
    expect(await codeOf(sessions.handOver(id, { ...to, prompt: 'another' }))).toBe('request_conflict');
    await sessions.set(heir.id, { maxTurns: 9 });
    const words = await until('the record', () => {
      const frames = scene.place.talkers.at(-1)?.heard ?? [];
      return frames.map(wordsOf).find((text) => text?.endsWith('\n\ngo on') === true) ?? null;
    });
    expect(words).toMatch(/^This is a record of a conversation with talker in the session talk \(ses_[^]*## Goal\n\none\n/);
    expect(words).toMatch(/## Last answers\n\ndone, token/);
    expect(words).not.toContain('two');
    const told = (await scene.place.store.events({ after: 0, limit: 1000 })).filter(({ body }) => body.kind === 'notice');
    expect(told.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining([id, heir.id]));
  });

  it('stays where it is while a turn runs, when it has ended, and with what only its program can be told', async () => {
    const { id } = await begin({ requestId: 'busy', name: 'busy' });
    const talker = await given('one');
    const { sessions } = scene.node;
    expect(await codeOf(sessions.handOver(id, to))).toBe('conflict');
    talker.say(init, echo('one'), result);
    await turnIs(id, 'one', 'ended');
    await sessions.leave(id, 'end');
    expect(await codeOf(sessions.handOver(id, to))).toBe('conflict');
    const other = await talked('three');
    await sessions.addTurn(other, { text: '', kind: 'prompt', action: 'compact', requestId: 'sum' });
    expect(await codeOf(sessions.handOver(other, { ...to, requestId: 'late' }))).toBe('conflict');
    expect(await sessions.show(other)).toMatchObject({ handedTo: null, queued: 2, endedAt: null });
  });

  it('stays with its program when its agent has lists of tools', async () => {
    const id = await talked();
    const agent = { name: 'held', source: 'project', path: '.orrery/agents/held.md', hash: 'h', prompt: '' };
    const keep = (tools: object | null): Promise<void> =>
      scene.place.store.transaction(async (tx) => {
        await tx.db
          .updateTable('session')
          .set({ agent: JSON.stringify({ ...agent, tools }) })
          .execute();
      });
    await keep({ allow: null, deny: ['Bash'] });
    expect(await codeOf(scene.node.sessions.handOver(id, to))).toBe('unsupported');
    await keep(null);
    expect(await scene.node.sessions.handOver(id, to)).toMatchObject({ handedFrom: id, unattended: 'wait' });
  });

  it('is one also when the node dies behind it, and when two ask at once', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    const both = await Promise.all([sessions.handOver(id, to), sessions.handOver(id, to)]);
    expect(new Set(both.map((one) => one.id)).size).toBe(1);
    await scene.node.talking.detach();
    await startAgain();
    scene.place.talkers[0]?.end(0);
    await stateIs(id, 'ended');
    expect(await scene.node.sessions.handOver(id, to)).toMatchObject({ id: both[0]?.id, replayed: true });
    expect((await scene.node.sessions.list({ limit: 10 })).items).toHaveLength(2);
  });
});
