import { expect, it } from 'vitest';
import { createScene, echo, init } from '../../../test/talking-scene.ts';

const { scene, begin, given, turnIs } = createScene();

/** How many inputs waited, each time the log told of it. */
const told = async (id: string): Promise<number[]> =>
  (await scene.place.store.ownEvents({ owner: id, after: 0, limit: 200 })).flatMap(({ body }) =>
    body.kind === 'queue.changed' ? [body.waiting] : [],
  );

it('every change of what waits is told to whoever watches, and a repeated one is not told again', async () => {
  const { id } = await begin();
  (await given('one')).say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  const before = (await told(id)).length;
  const { sessions } = scene.node;
  const two = await sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 'req_two' });
  await sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 'req_two' });
  const three = await sessions.addTurn(id, { text: 'three', kind: 'prompt' });
  await sessions.setTurn(id, three.id, { text: 'four' });
  await sessions.setTurn(id, three.id, { position: 0 });
  await sessions.removeTurn(id, two.id);
  expect((await told(id)).slice(before)).toEqual([1, 2, 2, 2, 1]);
});
