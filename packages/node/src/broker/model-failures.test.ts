import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, callOn, minted, openBrokerPlace, rows, type BrokerPlace, type PlaceOptions } from '../../test/broker-place.ts';

const opened: BrokerPlace[] = [];
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace(options);
  opened.push(place);
  return place;
};
afterEach(async () => {
  for (const place of opened.splice(0)) await place.close();
});

describe('what the gateway knows of failed calls', () => {
  it.each([
    ['rate_limit', 'rate_limit'],
    ['overloaded', 'overloaded'],
    ['auth', 'auth'],
    ['usage_limit', 'usage_limit'],
    ['credit', 'billing'],
    ['quota', 'billing'],
    ['too_long', 'context'],
  ] as const)('knows a provider’s %s on each wire', async (error, failure) => {
    const place = await open({ script: [{ error, times: 'forever', on: 'any' }] });
    const token = await minted(place);
    for (const wire of ['anthropic', 'responses', 'chat'] as const) {
      const { status } = await ask(place.broker.socketPath, callOn[wire](token));
      expect(status).toBeGreaterThanOrEqual(400);
      expect(place.broker.lastFailure('env_1', 0)).toMatchObject({
        failure,
        resetsAt: failure === 'usage_limit' ? expect.stringMatching(/^20/) : null,
      });
    }
    expect((await rows(place)).every(({ cost }) => cost === 0)).toBe(true);
  });

  it('spends no second call on a usage limit, until something new begins or it is over', async () => {
    const place = await open({ script: [{ error: 'usage_limit', times: 'forever', on: 'any' }] });
    const token = await minted(place);
    const asked = async (): Promise<number> => (await ask(place.broker.socketPath, callOn.anthropic(token))).status;
    expect([await asked(), await asked(), await asked()]).toEqual([429, 402, 402]);
    expect(place.broker.lastFailure('env_1', 0)).toMatchObject({
      failure: 'usage_limit',
      resetsAt: expect.stringMatching(/^20/),
    });
    place.broker.forgetFailure('env_1');
    expect(await asked()).toBe(429);
  });

  it('spends none either where the program calls again before it has read the refusal', async () => {
    const body = JSON.stringify({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'You have reached your usage limit.' },
    });
    let calls = 0;
    const slow = createServer((request, response) => {
      calls += 1;
      request.resume();
      const headers = { 'content-type': 'application/json', 'anthropic-ratelimit-unified-status': 'rejected' };
      response.writeHead(429, headers).flushHeaders();
      setTimeout(() => response.end(body), 200);
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const place = await open({
      providers: { anthropic: { baseUrl: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` } },
    });
    const { path, headers, body: asked } = callOn.anthropic(await minted(place));
    const early = await new Promise<number>((resolve, reject) => {
      const { socketPath } = place.broker;
      const first = request({ socketPath, path, method: 'POST', headers }, () => {
        ask(socketPath, { path, headers, body: asked }).then(({ status }) => resolve(status), reject);
      });
      first.end(asked);
    });
    expect([early, calls]).toEqual([402, 1]);
    slow.closeAllConnections();
    slow.close();
  });

  it.each(['anthropic', 'responses', 'chat'] as const)(
    'tells a cut, a clean cut, a dropped call, garbage and silence apart on %s',
    async (wire) => {
      const text = 'half of this is lost';
      const place = await open({
        script: [
          { text, cut: 0.5 },
          { text, cut: 0.5, clean: true },
          { drop: true },
          { garbage: true },
          { text, hang_after: 3 },
          { text },
        ],
        providerQuietMs: () => 150,
      });
      const token = await minted(place);
      const expected = [
        [200, true, 'network'],
        [200, false, 'network'],
        [502, false, 'network'],
        [200, false, 'protocol'],
        [200, true, 'timeout'],
        [200, false, null],
      ];
      for (const [n, fate] of expected.entries()) {
        const { status, cut } = await ask(place.broker.socketPath, callOn[wire](token));
        // The program may see a cut a moment before the call is recorded.
        await expect.poll(() => rows(place)).toHaveLength(n + 1);
        expect([status, cut, place.broker.lastFailure('env_1', 0)?.failure ?? null]).toEqual(fate);
      }
    },
  );
});
