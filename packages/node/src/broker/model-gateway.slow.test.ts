import { describe, expect, it } from 'vitest';
import { ask, callOn, grants, openBrokerPlace } from '../../test/broker-place.ts';

describe('the model gateway under load', () => {
  it('carries two hundred streams at once, whole and counted', async () => {
    const place = await openBrokerPlace({
      script: [{ text: 'word '.repeat(50), usage: { input: 10, output: 5, cached: 0 }, chunk_ms: 1, times: 'forever' }],
    });
    try {
      const environments = Array.from({ length: 10 }, (_, n) => `env_${n}`);
      const tokens = await Promise.all(environments.map(async (id) => (await place.broker.tokens.mint(grants(id))).run));
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) => ask(place.broker.socketPath, callOn.anthropic(tokens[n % 10] ?? ''))),
      );
      expect(answers.filter(({ status, cut }) => status === 200 && !cut)).toHaveLength(200);
      for (const id of environments) await place.broker.settled(id);
      const sums = await place.store.read
        .selectFrom('model_call')
        .select(({ fn }) => [fn.countAll<number>().as('calls'), fn.sum<number>('input_tokens').as('input')])
        .executeTakeFirst();
      expect(sums).toEqual({ calls: 200, input: 2000 });
    } finally {
      await place.close();
    }
  });

  it('holds back a provider that is faster than the program', async () => {
    const place = await openBrokerPlace({ script: [{ bytes: 48 * 1024 * 1024 }] });
    try {
      const { run } = await place.broker.tokens.mint(grants('env_1'));
      const before = process.memoryUsage().rss;
      const answer = await ask(place.broker.socketPath, callOn.anthropic(run));
      expect(answer.body.length).toBeGreaterThan(48 * 1024 * 1024);
      // The test itself holds the body as text; the gateway may add buffers, not a copy.
      expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
    } finally {
      await place.close();
    }
  });
});
