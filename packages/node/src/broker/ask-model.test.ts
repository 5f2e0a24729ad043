import { afterEach, describe, expect, it } from 'vitest';
import { ask, callOn, minted, openBrokerPlace, rows, type BrokerPlace, type PlaceOptions } from '../../test/broker-place.ts';
import { ASKED_ANSWER_BYTES } from './limits.ts';

const opened: BrokerPlace[] = [];
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace(options);
  opened.push(place);
  return place;
};
afterEach(async () => {
  for (const place of opened.splice(0)) await place.close();
});

const question = (token: string) => ({
  environmentId: 'env_1',
  token,
  system: 'You judge.',
  text: 'Is it so?',
  signal: AbortSignal.timeout(60_000),
});

/** A place whose agent has made one call; what comes after it answers the node. */
const afterOneCall = async (wire: 'anthropic' | 'responses' | 'chat' | 'gemini', step: object) => {
  const place = await open({
    script: [
      { text: 'work', on: 'any' },
      { on: 'any', ...step },
    ],
  });
  const token = await minted(place);
  await ask(place.broker.socketPath, callOn[wire](token));
  return { place, token };
};

describe('a question of the node itself', () => {
  it.each(['anthropic', 'responses', 'gemini'] as const)(
    'goes to the model that answered the agent, on the wire %s, and counts for the task',
    async (wire) => {
      const { place, token } = await afterOneCall(wire, { text: '{"met":true}', usage: { input: 70, output: 5, cached: 0 } });
      expect(await place.broker.ask(question(token))).toBe('{"met":true}');
      await place.broker.settled('env_1');
      const [first, second] = await rows(place);
      expect(second).toMatchObject({ status: 200, input: 70, output: 5 });
      expect(place.model.log().at(-1)?.body).toContain('Is it so?');
      expect(place.model.log().at(-1)?.body).toContain('You judge.');
      expect([first?.status, place.model.log().length]).toEqual([200, 2]);
    },
  );

  it('is refused when there was no call, the token has ended, the provider refuses, or the answer is no answer', async () => {
    const none = await open();
    await expect(none.broker.ask(question(await minted(none)))).rejects.toMatchObject({ code: 'agent_failed' });
    const refused = await afterOneCall('anthropic', { error: 'overloaded' });
    await expect(refused.place.broker.ask(question(refused.token))).rejects.toThrow(/anthropic answered 529/);
    const ended = await afterOneCall('anthropic', { text: 'x' });
    await ended.place.broker.tokens.end('env_1');
    await expect(ended.place.broker.ask(question(ended.token))).rejects.toThrow(/answered 401/);
    const garbage = await afterOneCall('anthropic', { garbage: true });
    await expect(garbage.place.broker.ask(question(garbage.token))).rejects.toMatchObject({ code: 'agent_failed' });
    const long = await afterOneCall('anthropic', { bytes: ASKED_ANSWER_BYTES });
    await expect(long.place.broker.ask(question(long.token))).rejects.toThrow(/too long/);
  });
});
