import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result, until } from '../../../test/talking-scene.ts';

const { scene, begin, given, stateIs, turnIs } = createScene();

/** Counts how often files are brought here. */
const counted = () => {
  const seen = { times: 0 };
  scene.place.carry = async () => void seen.times++;
  return seen;
};

const one = async (): Promise<string> => {
  const { id } = await begin();
  (await given('one')).say(init, echo('one'), result);
  await turnIs(id, 'one', 'ended');
  return id;
};

describe('what a session does in another place', () => {
  it('is brought here when a turn has ended, whatever becomes of the place until the next one', async () => {
    const seen = counted();
    const { id } = await begin();
    const talker = await given('one');
    // The files before the turn, for its checkpoint.
    expect(seen.times).toBe(1);
    talker.say(init, echo('one'), result);
    await turnIs(id, 'one', 'ended');
    await until('its work to be here', () => seen.times === 2);
    await stateIs(id, 'idle');
  });

  it('is looked at and saved as it is there, also while its program sleeps', async () => {
    const id = await one();
    await scene.node.sessions.leave(id, 'close');
    await stateIs(id, 'dormant');
    const seen = counted();
    await scene.node.talking.checkpoint(id);
    await scene.node.talking.look(id);
    expect(seen.times).toBe(2);
    scene.place.carry = () => Promise.reject(new OrreryError('backend_unreachable', 'Nobody answers.'));
    expect(await codeOf(scene.node.talking.checkpoint(id))).toBe('backend_unreachable');
    scene.place.carry = () => Promise.reject(new OrreryError('keeper_lost', 'It is gone.'));
    await scene.node.talking.checkpoint(id);
  });
});
