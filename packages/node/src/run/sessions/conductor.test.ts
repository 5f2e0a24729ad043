import { describe, expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result, until, wordsOf } from '../../../test/talking-scene.ts';
import { SESSION_STOP_MS } from '../../kernel/limits.ts';

const { scene, begin, given, heardAll, startAgain, stateIs, turnIs, turnsOf } = createScene();

describe('a session that is ended', () => {
  it('while its place is being made is over, and its program never begins', async () => {
    const gate = Promise.withResolvers<void>();
    scene.place.gate = gate.promise;
    const { id } = await begin();
    await scene.node.sessions.leave(id, 'end');
    gate.resolve();
    await stateIs(id, 'ended');
    expect((await turnsOf(id)).map(({ state }) => state)).toEqual(['removed']);
    expect(scene.place.talkers).toEqual([]);
  });

  it.each(['end', 'close'] as const)('leaves by %s although the node died on the way', async (how) => {
    const { id } = await begin();
    const talker = await given('one');
    await scene.node.talking.detach();
    await scene.node.sessions.leave(id, how);
    expect(talker.ended).toBe(false);
    await startAgain();
    await stateIs(id, how === 'end' ? 'ended' : 'dormant');
    expect(talker.ended).toBe(true);
  });

  it('keeps no input that waits: each is settled, and none can be sent again', async () => {
    const { id } = await begin();
    const talker = await given('one');
    talker.say(init, echo('one'));
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    await turnIs(id, 'one', 'accepted');
    await scene.node.sessions.leave(id, 'end');
    const { queued } = await stateIs(id, 'ended');
    expect(queued).toBe(0);
    const turns = await turnsOf(id);
    expect(Object.fromEntries(turns.map(({ text, state }) => [text, state]))).toEqual({ one: 'ended', two: 'removed' });
  });

  it('takes back an input of which nobody knows whether it was taken', async () => {
    const { id } = await begin();
    (await given('one')).end(1);
    const parked = await turnIs(id, 'one', 'uncertain');
    await scene.node.sessions.leave(id, 'end');
    await stateIs(id, 'ended');
    expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'uncertain' });
    expect(await codeOf(scene.node.sessions.decide(id, parked.id, 'retry'))).toBe('conflict');
  });

  it('although its place is gone with its program', async () => {
    const { id } = await begin();
    await given('one');
    await scene.node.talking.detach();
    await scene.place.environment({ deleted_at: 1, open: 0 });
    scene.node = await scene.place.start();
    await scene.node.sessions.leave(id, 'end');
    await stateIs(id, 'ended');
  });
});

describe('a session that is closed with inputs that wait', () => {
  const closed = async (): Promise<string> => {
    const { id } = await begin();
    const talker = await given('one');
    talker.say(init, echo('one'));
    await turnIs(id, 'one', 'accepted');
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    await scene.node.sessions.leave(id, 'close');
    expect(await stateIs(id, 'dormant')).toMatchObject({ held: true, queued: 1 });
    expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'cancelled' });
    return id;
  };

  it('holds them, also over a start of the node, until it is resumed', async () => {
    const id = await closed();
    await scene.node.talking.detach();
    await startAgain();
    await scene.node.sessions.setTurn(id, (await turnIs(id, 'two', 'pending')).id, { text: 'two, later' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(scene.place.talkers.length).toBe(1);
    await scene.node.sessions.resume(id);
    await given('two, later');
    expect((await scene.node.sessions.show(id)).held).toBe(false);
  });

  it('goes on with them, in their order, when another input comes', async () => {
    const id = await closed();
    await scene.node.sessions.addTurn(id, { text: 'three', kind: 'prompt' });
    const talker = await given('two');
    talker.say(init, echo('two'), result);
    await given('three');
  });
});

it('an input that would be too long a line for a program is refused before it is kept', async () => {
  const { id } = await begin();
  const text = '\u0001'.repeat(3_000_000);
  expect(await codeOf(scene.node.sessions.addTurn(id, { text, kind: 'prompt' }))).toBe('input_too_large');
  expect(await codeOf(begin({ prompt: text }))).toBe('input_too_large');
  expect((await turnsOf(id)).length).toBe(1);
});

it('a program that reads nothing can be closed', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  talker.deaf = true;
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await turnIs(id, 'two', 'dispatching');
  await scene.node.sessions.leave(id, 'close');
  await until('the program to end', () => talker.ended);
  expect(await turnIs(id, 'two', 'ended')).toMatchObject({ outcome: 'cancelled' });
});

it('a program that is told to stop and only talks on is ended', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  await scene.node.sessions.interrupt(id);
  const began = scene.place.clock.nowMs();
  await until('the program to end', () => {
    if (talker.ended) return true;
    scene.place.pass(1_000);
    talker.say({ type: 'system', subtype: 'status' });
    return heardAll(talker).then(() => talker.ended);
  });
  expect(scene.place.clock.nowMs() - began).toBeGreaterThan(SESSION_STOP_MS);
  expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'cancelled' });
});

it('an input that was stopped and is sent again by a person is not stopped again', async () => {
  const { id } = await begin();
  const talker = await given('one');
  await scene.node.sessions.interrupt(id);
  talker.end(1);
  const parked = await turnIs(id, 'one', 'uncertain');
  await scene.node.sessions.decide(id, parked.id, 'retry');
  const again = await until('another program', () => (scene.place.talkers.length === 2 ? given('one') : null));
  again.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  scene.place.pass(SESSION_STOP_MS * 2);
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  again.say(result);
  await given('two');
  expect(scene.place.talkers.length).toBe(2);
  expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'success' });
});

describe('words for a turn that runs', () => {
  it('begin one of their own when they come late, and that one lasts until the program ends it', async () => {
    const { id } = await begin();
    const talker = await given('one');
    talker.say(init, echo('one'));
    await turnIs(id, 'one', 'accepted');
    await scene.node.sessions.addTurn(id, { text: 'late', kind: 'steer' });
    await given('late');
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    talker.say(result, init, echo('late'));
    await turnIs(id, 'one', 'ended');
    expect(await turnIs(id, 'late', 'accepted')).toMatchObject({ turn: 2, kind: 'prompt' });
    expect(talker.heard.map(wordsOf)).not.toContain('two');
    talker.say(result);
    expect(await turnIs(id, 'late', 'ended')).toMatchObject({ outcome: 'success' });
    await given('two');
  });

  it.each(['refused', 'refused-late'] as const)('wait for a turn of their own, once, when the program %s them', async (how) => {
    const { id } = await begin();
    const talker = await given('one');
    talker.say(init, echo('one'));
    await turnIs(id, 'one', 'accepted');
    scene.place.steers = how;
    const { id: steer } = await scene.node.sessions.addTurn(id, { text: 'words', kind: 'steer' });
    const back = await until('the words to come back', async () => {
      const [turn] = (await turnsOf(id)).filter(({ text, kind }) => text === 'words' && kind === 'prompt');
      return turn ?? null;
    });
    expect(back).toMatchObject({ state: 'pending', id: steer, outcome: null, endedAt: null });
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    talker.say(result);
    (await given('words')).say(echo('words'), result);
    await given('two');
    expect(talker.heard.flatMap((frame) => wordsOf(frame) ?? [])).toEqual(['one', 'words', 'two']);
    expect(await turnIs(id, 'words', 'ended')).toMatchObject({ outcome: 'success', turn: 2 });
  });

  it('hold nothing up when the program ends before it took them', async () => {
    const { id } = await begin();
    const talker = await given('one');
    talker.say(init, echo('one'));
    await turnIs(id, 'one', 'accepted');
    await scene.node.sessions.addTurn(id, { text: 'words', kind: 'steer' });
    await given('words');
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    talker.end(1);
    await given('two');
    expect(await turnIs(id, 'words', 'ended')).toMatchObject({ outcome: 'uncertain' });
  });
});

it('a node lets go of a session whose program is just being started', async () => {
  const gate = Promise.withResolvers<void>();
  scene.place.gate = gate.promise;
  const { id } = await begin();
  const letGo = scene.node.talking.detach();
  gate.resolve();
  await letGo;
  scene.place.gate = Promise.resolve();
  await startAgain();
  await given('one');
  expect((await scene.node.sessions.show(id)).generation).toBe(scene.place.talkers.length);
});

it('a session without a prompt gets its program after the node died before it began', async () => {
  await scene.node.talking.detach();
  const { id } = await scene.node.sessions.create(scene.place.asked());
  await startAgain();
  await until('the program', () => scene.place.talkers.length === 1);
  await stateIs(id, 'idle');
});

it('an environment that is stopped under a session stays stopped, whatever waits in the session', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await scene.place.environment({ open: 0, state: 'stopped' });
  talker.end(1, 'SIGKILL');
  await stateIs(id, 'dormant');
  await turnIs(id, 'one', 'ended');
  await scene.node.talking.detach();
  const row = await scene.place.store.read.selectFrom('named_environment').select(['operation', 'state']).executeTakeFirst();
  expect([row, scene.place.talkers.length]).toEqual([{ operation: null, state: 'stopped' }, 1]);
});

it('a conversation that the program does not have is replaced by a new one, and that is said', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  await scene.node.sessions.leave(id, 'close');
  expect((await stateIs(id, 'dormant')).conversation).toBe('c1');
  scene.place.mute = true;
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  const next = await until('another program', () => scene.place.talkers[1] ?? null);
  scene.place.mute = false;
  next.complain('No conversation found with session ID: c1\n');
  next.end(1);
  await given('two');
  expect([(await scene.node.sessions.show(id)).conversation, scene.place.talkers.length]).toEqual([null, 3]);
  const events = await scene.place.store.ownEvents({ owner: id, after: 0, limit: 100 });
  expect(events.filter(({ body }) => body.kind === 'notice' && body.text.includes('begins a new one')).length).toBe(1);
});

it('a conversation that cannot be taken up again yet is left alone until it can, and the session says so', async () => {
  scene.place.restMs = 60_000;
  const { id } = await begin();
  (await given('one')).say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  const begun = scene.place.clock.nowMs();
  await scene.node.sessions.leave(id, 'close');
  await stateIs(id, 'dormant');
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  const waits = await until('the reason', async () => {
    const view = await scene.node.sessions.show(id);
    return view.reason === null ? null : view;
  });
  expect([waits.state, waits.queued, waits.reason]).toEqual(['dormant', 1, expect.stringContaining('up again from 20')]);
  // It waits over a start of the node, too; whoever closes it meanwhile is obeyed.
  await scene.node.talking.detach();
  await startAgain();
  await scene.node.sessions.leave(id, 'close');
  await until('it to be closed', async () => (await scene.node.sessions.show(id)).held);
  await scene.node.sessions.resume(id);
  expect(scene.place.talkers.length).toBe(1);
  await until('another program', () => {
    scene.place.pass(1_000);
    return scene.place.talkers[1] ?? null;
  });
  const talker = await given('two');
  expect(scene.place.clock.nowMs() - begun).toBeGreaterThan(58_000);
  talker.say(init, echo('two'));
  await turnIs(id, 'two', 'accepted');
  expect(await scene.node.sessions.show(id)).toMatchObject({ state: 'running', reason: null });
});
