import { once } from 'node:events';
import { createServer, request as requestHttp, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    const offered = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 0x20);
    let written = 0;
    const provider = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const fill = (): void => {
        while (written < offered) {
          written += piece.length;
          if (!response.write(piece)) return void response.once('drain', fill);
        }
        response.end();
      };
      fill();
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    const place = await openBrokerPlace({ providers: { fast: { baseUrl: `http://127.0.0.1:${port}` } } });
    try {
      const { run } = await place.broker.tokens.mint(grants('env_1'));
      const call = { ...callOn.chat(run), path: '/models/fast/v1/chat/completions' };
      const { socketPath } = place.broker;
      const request = requestHttp({ socketPath, path: call.path, method: 'POST', headers: call.headers });
      request.end(call.body);
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      // Nothing is read: what was written stands in buffers, and no more is taken from the provider.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(written).toBeLessThan(16 * 1024 * 1024);
      let received = 0;
      for await (const part of answer) received += (part as Buffer).length;
      expect(received).toBe(offered);
    } finally {
      await place.close();
      provider.close();
    }
  });
});
