/** What pays a call: the login of the program that makes it, or the key of its provider, and never both. */
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, callOn, minted, openBrokerPlace, REAL_KEY, type BrokerPlace } from '../../test/broker-place.ts';
import type { FindPayment } from './providers.ts';

const LOGIN = 'canary-login-0123456789';
const places: BrokerPlace[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
});

type Known = { place: BrokerPlace | null; refused: number; fails: OrreryError | null };

const open = async (script: readonly object[]): Promise<{ readonly place: BrokerPlace; readonly known: Known }> => {
  const known: Known = { place: null, refused: 0, fails: null };
  const payment: FindPayment = async ({ harness, provider }) => {
    if (known.fails !== null) throw known.fails;
    if (harness !== 'codex' || provider !== 'openai') return null;
    return {
      baseUrl: new URL(`${known.place?.model.url ?? ''}/v1`),
      path: (path) => (path.startsWith('/v1/responses') ? path.slice('/v1'.length) : null),
      headers: () => ({ authorization: `Bearer ${LOGIN}`, 'chatgpt-account-id': 'account-1' }),
      refused: () => (known.refused += 1),
    };
  };
  const place = await openBrokerPlace({ script, payment });
  known.place = place;
  places.push(place);
  return { place, known };
};

const codexCall = async (place: BrokerPlace, headers: Readonly<Record<string, string>> = {}) => {
  const call = callOn.responses(await minted(place, 'env_1', { harness: 'codex' }));
  return ask(place.broker.socketPath, { ...call, headers: { ...call.headers, ...headers } });
};

describe('what pays a call', () => {
  it('a login goes to its own address with its own headers, and the key stays behind', async () => {
    const { place } = await open([{ text: 'a' }]);
    expect(await codexCall(place)).toMatchObject({ status: 200 });
    const [call] = place.model.log();
    expect(call).toMatchObject({
      path: '/v1/responses',
      headers: { authorization: `Bearer ${LOGIN}`, 'chatgpt-account-id': 'account-1' },
    });
    expect(JSON.stringify(call)).not.toContain(REAL_KEY);
    expect(place.logged.join('')).not.toContain(LOGIN);
  });

  it('any other program, and what no program of a login asks, is paid by the key', async () => {
    const { place } = await open([{ text: 'a', times: 'forever' }]);
    for (const harness of ['pi', null]) {
      const token = await minted(place, `env_${harness}`, { harness });
      expect(await ask(place.broker.socketPath, callOn.responses(token))).toMatchObject({ status: 200 });
    }
    const seen = JSON.stringify(place.model.log());
    expect(seen).toContain(REAL_KEY);
    expect(seen).not.toContain(LOGIN);
  });

  it('a call that the login does not pay is refused, not paid by the key in silence', async () => {
    const { place } = await open([]);
    const token = await minted(place, 'env_1', { harness: 'codex' });
    const answer = await ask(place.broker.socketPath, { ...callOn.chat(token), path: '/models/openai/v1/chat/completions' });
    expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('The login of codex pays no calls of') });
    expect(place.model.calls()).toBe(0);
  });

  it('tells the login when its provider does not know who calls', async () => {
    const { place, known } = await open([{ error: 'auth' }]);
    expect(await codexCall(place)).toMatchObject({ status: 401 });
    expect(known.refused).toBe(1);
  });

  it('a login that is over is said with its way out; one whose issuer is away may be tried again', async () => {
    const { place, known } = await open([]);
    known.fails = new OrreryError('login_failed', 'The login of codex is over.', { fix: 'orrery harness login codex' });
    expect(await codexCall(place)).toMatchObject({ status: 401, body: expect.stringContaining('orrery harness login codex') });
    known.fails = new OrreryError('login_unreachable', 'auth.example gave no new access token.');
    expect(await codexCall(place)).toMatchObject({ status: 502 });
    expect(place.model.calls()).toBe(0);
  });

  it('the question of the node itself is paid by the key; a program cannot pass its own off as one', async () => {
    const { place } = await open([{ text: 'a', times: 'forever', on: 'any' }]);
    expect(await codexCall(place, { 'x-orrery-own': '0'.repeat(64) })).toMatchObject({ status: 200 });
    expect(place.model.log().at(-1)?.headers['authorization']).toBe(`Bearer ${LOGIN}`);
    await place.broker.ask({
      environmentId: 'env_1',
      token: await minted(place, 'env_1', { harness: 'codex' }),
      system: 'Be brief.',
      text: 'Is it done?',
      signal: AbortSignal.timeout(10_000),
    });
    const own = place.model.log().at(-1);
    expect(own?.headers['authorization']).toBe(`Bearer ${REAL_KEY}`);
    expect(Object.keys(own?.headers ?? {})).not.toContain('x-orrery-own');
  });
});
