import { expect, it } from 'vitest';
import { createScene, echo, init, result, until, wordsOf } from '../../../test/talking-scene.ts';
import { LEASE_MS } from '../../kernel/limits.ts';

const { scene, begin, given, startAgain, stateIs, turnIs } = createScene();

const allWords = (): string[] => scene.place.talkers.flatMap(({ heard }) => heard.flatMap((frame) => wordsOf(frame) ?? []));
const fenceOf = async (id: string): Promise<number | undefined> =>
  (await scene.place.store.read.selectFrom('session_lease').select('fence').where('session_id', '=', id).executeTakeFirst())
    ?.fence;
const quiet = async (): Promise<void> => {
  let rounds = 0;
  await until('some time to pass', () => ++rounds > 20);
};
/** What stands in the log, by kind, of what a program said and was told. */
const kinds = async (id: string): Promise<string[]> =>
  (await scene.place.store.ownEvents({ owner: id, after: 0, limit: 200 }))
    .map(({ body }) => body.kind)
    .filter((kind) => ['user', 'turn.dispatched', 'turn.ended'].includes(kind));

it('a session that one conductor has is left alone by another one until the lease is over, and then goes on there', async () => {
  // It never looks at its clock: nothing is renewed.
  const first = await scene.place.start();
  const second = scene.node;
  const { id } = await first.sessions.create(scene.place.asked({ prompt: 'one' }));
  const talker = await given('one');
  talker.say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  await second.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await quiet();
  expect([allWords(), await fenceOf(id)]).toEqual([['one'], 1]);
  scene.place.pass(LEASE_MS);
  await given('two');
  expect([scene.place.talkers.length, await fenceOf(id)]).toEqual([1, 2]);
  // The first one is told that there is more to do: it does nothing of it.
  await second.sessions.addTurn(id, { text: 'three', kind: 'prompt' });
  first.talking.wake(id);
  talker.say(echo('two'), result);
  (await given('three')).say(echo('three'), result);
  await turnIs(id, 'three', 'ended');
  expect([allWords(), await fenceOf(id)]).toEqual([['one', 'two', 'three'], 2]);
  expect(await kinds(id)).toEqual(Array.from({ length: 3 }, () => ['turn.dispatched', 'user', 'turn.ended']).flat());
});

it('a conductor that was paused writes nothing late: neither what it heard nor what it was about to send', async () => {
  let pause = Promise.resolve();
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const first = await scene.place.start(() => {
    waiting += 1;
    return pause.finally(() => (waiting -= 1));
  });
  const { id } = await first.sessions.create(scene.place.asked({ prompt: 'one' }));
  const talker = await given('one');
  await until('all of it to be recorded', () => waiting === 0);
  pause = gate.promise;
  talker.say(init, echo('one'), result);
  await until('the first one to be about to record it', () => waiting > 0);
  await first.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await startAgain();
  await turnIs(id, 'one', 'ended');
  await given('two');
  talker.say(echo('two'), result);
  await stateIs(id, 'idle');
  const before = await scene.place.store.ownEvents({ owner: id, after: 0, limit: 200 });
  gate.resolve();
  await until('the first one to be refused', () => waiting === 0);
  await quiet();
  expect(await scene.place.store.ownEvents({ owner: id, after: 0, limit: 200 })).toEqual(before);
  expect([allWords(), talker.ended, scene.place.talkers.length]).toEqual([['one', 'two'], false, 1]);
  expect(await scene.node.sessions.show(id)).toMatchObject({ state: 'idle', generation: 1, reason: null });
});

it('a conductor that was still making the place starts no second program once another one has the session', async () => {
  const gate = Promise.withResolvers<void>();
  scene.place.gate = gate.promise;
  const { id } = await begin();
  await until('the lease', async () => (await fenceOf(id)) === 1);
  scene.place.gate = Promise.resolve();
  await startAgain();
  (await given('one')).say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  gate.resolve();
  await quiet();
  expect([scene.place.talkers.length, allWords()]).toEqual([1, ['one']]);
  expect(await scene.node.sessions.show(id)).toMatchObject({ state: 'idle', generation: 1 });
});
