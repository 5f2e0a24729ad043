import { expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result } from '../../../test/talking-scene.ts';
import { awaitClosed } from '../../session/closing.ts';

const { scene, begin, given, startAgain, stateIs, turnIs } = createScene();

it('a close is answered when nothing runs any more, and says so while that is not proven', async () => {
  const { id } = await begin();
  const talker = await given('one');
  await scene.node.talking.detach();
  expect(await codeOf(scene.node.sessions.close(id))).toBe('close_pending');
  expect(talker.ended).toBe(false);
  await startAgain();
  await stateIs(id, 'dormant');
  expect(await scene.node.sessions.close(id)).toMatchObject({ state: 'dormant', held: true });
  expect(talker.ended).toBe(true);
});

it('whoever waits for a close is woken by what is committed, and by no look at the clock', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  const never = { sleep: () => new Promise<void>(() => undefined) };
  const closed = async (): Promise<void> => {
    await scene.node.sessions.leave(id, 'close');
    await awaitClosed({ store: scene.place.store, clock: never }, id);
  };
  await closed();
  expect(talker.ended).toBe(true);
  // Asleep already: nothing of it changes but the wish itself.
  await closed();
  expect(await scene.node.sessions.show(id)).toMatchObject({ state: 'dormant', held: true });
});
