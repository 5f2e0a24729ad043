import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ask,
  callOn,
  grants,
  minted,
  openBrokerPlace,
  REAL_KEY,
  rows,
  type BrokerPlace,
  type PlaceOptions,
} from '../../test/broker-place.ts';
import { MODEL_CALLS_PER_ENVIRONMENT, MODEL_REQUEST_BYTES } from './limits.ts';

const opened: BrokerPlace[] = [];
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace(options);
  opened.push(place);
  return place;
};
afterEach(async () => {
  for (const place of opened.splice(0)) await place.close();
});

describe('the model gateway', () => {
  it.each(['anthropic', 'responses', 'chat', 'gemini'] as const)('passes the wire %s and counts it, streamed', async (wire) => {
    const place = await open({ script: [{ text: 'Hi there.', usage: { input: 1000, output: 200, cached: 300 } }] });
    const answer = await ask(place.broker.socketPath, callOn[wire](await minted(place)));
    expect(answer).toMatchObject({ status: 200, cut: false });
    expect(answer.body).toContain('there');
    const [call] = place.model.log();
    expect(JSON.stringify(call?.headers)).toContain(REAL_KEY);
    expect(call?.headers['accept-encoding']).toBe('identity');
    expect(call?.path).not.toContain('leak');
    const [row] = await rows(place);
    const input = wire === 'anthropic' ? 1300 : 1000;
    expect(row).toMatchObject({ status: 200, input, output: 200, cached: 300, cost: expect.any(Number) });
    expect(place.logged.join('')).not.toContain('hello');
  });

  it('computes the cost from the price table and leaves it unknown without a price', async () => {
    const place = await open({ script: [{ text: 'a', usage: { input: 1000, output: 200, cached: 300 }, times: 2 }] });
    const token = await minted(place);
    await ask(place.broker.socketPath, callOn.anthropic(token));
    await ask(place.broker.socketPath, callOn.anthropic(token, { model: 'nobody-knows' }));
    expect((await rows(place)).map(({ cost }) => cost)).toEqual([(1000 * 3 + 300 * 0.3 + 200 * 15) / 1_000_000, null]);
  });

  it('counts an answer that comes whole', async () => {
    const place = await open({ script: [{ text: 'a', usage: { input: 7, output: 3, cached: 0 }, times: 3 }] });
    const token = await minted(place);
    for (const wire of ['anthropic', 'responses', 'chat'] as const)
      expect(await ask(place.broker.socketPath, callOn[wire](token, { stream: false }))).toMatchObject({ status: 200 });
    expect((await rows(place)).map(({ input, output }) => [input, output])).toEqual([
      [7, 3],
      [7, 3],
      [7, 3],
    ]);
  });

  it('keeps both sides’ credentials apart', async () => {
    const place = await open({ script: [{ text: 'a', times: 'forever', on: 'any' }] });
    const token = await minted(place);
    const answer = await ask(place.broker.socketPath, {
      ...callOn.anthropic(token),
      headers: { authorization: `Bearer ${token}`, 'x-api-key': token, cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' },
    });
    const seen = JSON.stringify(place.model.log());
    expect(seen).not.toContain(token);
    expect(seen).not.toContain('a=b');
    expect(JSON.stringify(answer)).not.toContain(REAL_KEY);
    const stored = JSON.stringify(await place.store.read.selectFrom('run_token').selectAll().execute());
    expect(stored).not.toContain(token);
  });

  it('refuses a missing, unknown, ended or other kind of token, each with one line of audit', async () => {
    const place = await open();
    const { run, egress } = await place.broker.tokens.mint(grants('env_1'));
    await place.broker.tokens.end('env_1');
    for (const token of ['', 'orr_unknown', run, egress, run]) {
      const answer = await ask(place.broker.socketPath, callOn.anthropic(token));
      expect(answer).toMatchObject({ status: 401, headers: { 'content-type': 'application/json' } });
      expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    }
    await expect
      .poll(() => place.audited())
      .toEqual([
        { actor: 'unknown', action: 'model.call', subject: 'anthropic', outcome: 'refused', detail: { reason: 'no token' } },
        { actor: 'unknown', action: 'model.call', subject: 'anthropic', outcome: 'refused', detail: { reason: 'unknown token' } },
        {
          actor: 'task:task-of-env_1',
          action: 'model.call',
          subject: 'anthropic',
          outcome: 'refused',
          detail: { reason: 'ended token' },
        },
      ]);
    expect(place.model.calls()).toBe(0);
  });

  it('a new token ends the earlier ones of its environment, and tokens outlive a restart', async () => {
    const place = await open({ script: [{ text: 'a', times: 'forever' }] });
    const first = await minted(place);
    expect(await ask(place.broker.socketPath, callOn.anthropic(first))).toMatchObject({ status: 200 });
    const second = await minted(place);
    await place.restart();
    expect(await ask(place.broker.socketPath, callOn.anthropic(first))).toMatchObject({ status: 401 });
    expect(await ask(place.broker.socketPath, callOn.anthropic(second))).toMatchObject({ status: 200 });
  });

  it('passes model calls only', async () => {
    const place = await open();
    const token = await minted(place);
    const tried = [
      '/models/anthropic/v1/files',
      '/models/openai/v1/../v1/files',
      '/models/anthropic//v1/messages',
      '/models/nobody/v1/messages',
      '/models/anthropic/v1/messages/%2e%2e/files',
      '/models/',
    ];
    for (const path of tried)
      expect(await ask(place.broker.socketPath, { ...callOn.anthropic(token), path })).toMatchObject({ status: 404 });
    expect(
      await ask(place.broker.socketPath, {
        path: '/models/openai/v1/models?client_version=1',
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      }),
    ).toMatchObject({ status: 200 });
    expect(await ask(place.broker.socketPath, { path: '/anything', method: 'GET' })).toMatchObject({
      status: 404,
      body: expect.stringContaining('/models/<provider>/'),
    });
    expect(await rows(place)).toEqual([]);
    expect(place.model.calls()).toBe(1);
  });

  it('sends every call of a token with an upstream to that provider, whatever the path names', async () => {
    const place = await open({ script: [{ text: 'a' }] });
    const token = await minted(place, 'env_1', { upstream: 'openai' });
    expect(await ask(place.broker.socketPath, callOn.anthropic(token))).toMatchObject({ status: 200 });
    expect(place.model.log()[0]?.headers).toMatchObject({ authorization: `Bearer ${REAL_KEY}` });
    expect(await rows(place)).toMatchObject([{ provider: 'openai', model: 'claude-sonnet-4-5' }]);
  });

  it('refuses models that are not granted, in the form of the wire', async () => {
    const place = await open({ script: [{ text: 'a', times: 'forever' }] });
    const token = await minted(place, 'env_1', { models: ['claude-sonnet-4-5', 'openai/*'] });
    expect(await ask(place.broker.socketPath, callOn.anthropic(token))).toMatchObject({ status: 200 });
    expect(await ask(place.broker.socketPath, callOn.chat(token))).toMatchObject({ status: 200 });
    const refused = await ask(place.broker.socketPath, callOn.anthropic(token, { model: 'claude-opus-5' }));
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      403,
      { type: 'error', error: { type: 'permission_error', message: expect.stringContaining('claude-opus-5 is not allowed') } },
    ]);
    expect(await ask(place.broker.socketPath, callOn.gemini(token))).toMatchObject({
      status: 403,
      body: expect.stringContaining('PERMISSION_DENIED'),
    });
  });

  it('counts on with another budget as soon as it is changed', async () => {
    const place = await open({ script: [{ text: 'x', times: 'forever', on: 'any' }] });
    const token = await minted(place, 'env_1', { budgetUsd: 0 });
    const call = async () => (await ask(place.broker.socketPath, callOn.anthropic(token))).status;
    expect(await call()).toBe(402);
    const { tokens } = place.broker;
    await place.store.transaction((tx) => tokens.setBudget(tx, 'env_1', 5));
    tokens.changed('env_1');
    expect(await call()).toBe(200);
    await place.store.transaction((tx) => tokens.setBudget(tx, 'env_1', 0.000_001));
    tokens.changed('env_1');
    expect(await call()).toBe(402);
  });

  it('stops before the call that would exceed the budget, and says so', async () => {
    const place = await open({ script: [{ text: 'a', usage: { input: 1000, output: 1000, cached: 0 }, times: 'forever' }] });
    const token = await minted(place, 'env_1', { budgetUsd: 0.03 });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await ask(place.broker.socketPath, callOn.anthropic(token))).status);
    expect(statuses).toEqual([200, 200, 402]);
    expect(place.broker.budgetRefused('task-of-env_1')).toBe(true);
    expect(place.broker.lastFailure('env_1', 0)).toMatchObject({ failure: 'budget' });
    expect(await rows(place)).toHaveLength(2);
    const big = await minted(place, 'env_2', { budgetUsd: 0.03, taskId: 'other' });
    expect(await ask(place.broker.socketPath, callOn.anthropic(big, { padding: 'x'.repeat(500_000) }))).toMatchObject({
      status: 402,
    });
    await place.restart();
    expect(await ask(place.broker.socketPath, callOn.anthropic(token))).toMatchObject({ status: 402 });
  });

  it('reads a subscription’s windows from the headers', async () => {
    const place = await open({ script: [{ error: 'usage_limit' }] });
    await ask(place.broker.socketPath, callOn.anthropic(await minted(place)));
    expect(place.limits).toMatchObject([
      {
        provider: 'anthropic',
        environmentId: 'env_1',
        windows: [{ name: 'five_hour', exhausted: true, resetsAt: expect.stringMatching(/^20/) }],
      },
    ]);
  });

  it('ends the provider’s call when the program goes away', async () => {
    const place = await open({ script: [{ text: 'a long answer in many pieces', chunk_ms: 100 }] });
    const token = await minted(place);
    const abort = new AbortController();
    const asked = ask(place.broker.socketPath, { ...callOn.anthropic(token), signal: abort.signal });
    setTimeout(() => abort.abort(), 150);
    await asked.catch(() => undefined);
    await expect.poll(() => rows(place)).toMatchObject([{ status: 200, input: 100 }]);
    expect(place.broker.lastFailure('env_1', 0)).toBeNull();
  });

  it('ends every call of an environment with it', async () => {
    const place = await open({ script: [{ delay_ms: 60_000, text: 'never', times: 'forever' }] });
    const token = await minted(place);
    const asked = Promise.allSettled([
      ask(place.broker.socketPath, callOn.anthropic(token)),
      ask(place.broker.socketPath, callOn.chat(token)),
    ]);
    await expect.poll(() => place.model.calls()).toBe(2);
    await place.broker.tokens.end('env_1');
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('refuses more calls at once than its limit, and bodies past theirs', async () => {
    const place = await open({ script: [{ delay_ms: 60_000, text: 'never', times: 'forever' }] });
    const token = await minted(place);
    const held = Array.from({ length: MODEL_CALLS_PER_ENVIRONMENT }, () =>
      ask(place.broker.socketPath, callOn.anthropic(token)).catch(() => null),
    );
    await expect.poll(() => place.model.calls(), { timeout: 15_000 }).toBe(MODEL_CALLS_PER_ENVIRONMENT);
    expect(await ask(place.broker.socketPath, callOn.anthropic(token))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '2' },
    });
    await place.broker.tokens.end('env_1');
    await Promise.all(held);
    const fresh = await minted(place, 'env_2');
    expect(
      await ask(place.broker.socketPath, {
        ...callOn.anthropic(fresh),
        headers: { 'x-api-key': fresh, 'content-length': String(MODEL_REQUEST_BYTES + 1) },
        body: '{',
      }),
    ).toMatchObject({ status: 413 });
    expect(await ask(place.broker.socketPath, { ...callOn.anthropic(fresh), body: 'no json' })).toMatchObject({ status: 400 });
  });

  it('answers garbage and huge headers with an error and lives on', async () => {
    const place = await open({ script: [{ text: 'a' }] });
    const raw = (text: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(place.broker.socketPath, () => socket.write(text));
        let got = '';
        socket.on('data', (part) => (got += part.toString()));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(got.split('\r\n')[0] ?? ''));
      });
    expect(await raw('\x16\x03\x01garbage\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request');
    expect(await raw(`GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`)).toBe('HTTP/1.1 431 Request Header Fields Too Large');
    expect(await raw('GET /models/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')).toBe(
      'HTTP/1.1 501 Not Implemented',
    );
    expect(await ask(place.broker.socketPath, callOn.anthropic(await minted(place)))).toMatchObject({ status: 200 });
  });

  it('says when a provider has no key or cannot be reached, and talks to one on a Unix socket', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => nobody.once('listening', resolve));
    const { port } = nobody.address() as { port: number };
    await new Promise((resolve) => nobody.close(resolve));
    const place = await open({
      providers: {
        keyless: { baseUrl: 'http://127.0.0.1:1', key: 'secret:absent' },
        away: { baseUrl: `http://127.0.0.1:${port}` },
        local: { socket: '/nonexistent.sock', keyStyle: 'none' },
      },
    });
    const token = await minted(place);
    const chat = (provider: string) =>
      ask(place.broker.socketPath, { ...callOn.chat(token), path: `/models/${provider}/v1/chat/completions` });
    expect(await chat('keyless')).toMatchObject({ status: 401, body: expect.stringContaining('orrery secret set keyless') });
    expect(await chat('away')).toMatchObject({ status: 502, body: expect.stringContaining('away cannot be reached') });
    expect(await chat('local')).toMatchObject({ status: 502 });
    expect(place.broker.lastFailure('env_1', 0)).toMatchObject({ failure: 'network' });
    expect(await rows(place)).toMatchObject([
      { provider: 'away', status: 0, cost: 0 },
      { provider: 'local', status: 0, cost: 0 },
    ]);
  });
});
