import type { OperationHandlers, Scope } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { createAdmission } from './admit.ts';
import { createApi } from './door.ts';
import type { Streams } from './streams.ts';

const noStreams: Streams = {
  node: async () => undefined,
  task: async () => undefined,
  session: async () => undefined,
  readers: 0,
  close: () => undefined,
};

const tokens = {
  authenticate: async (header: string | undefined) => {
    const scope = /^Bearer (viewer|operator|owner)$/.exec(header ?? '')?.[1];
    if (scope === undefined) throw new OrreryError('unauthenticated', 'The request has no valid token.');
    return { name: 'test', scope: scope as Scope };
  },
};

const token = {
  id: 'tok_1',
  name: 'ci',
  scope: 'viewer' as const,
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUsedAt: null,
  expiresAt: null,
};

describe('the door', () => {
  let calls: unknown[] = [];
  let logged: string[] = [];
  let nowMs = 0;
  beforeEach(() => {
    calls = [];
    logged = [];
    nowMs = 0;
  });

  const handlers: Partial<OperationHandlers> = {
    queuePause: async (call) => {
      calls.push(call);
      return { ok: true };
    },
    projectAdd: async (call) => {
      calls.push(call);
      throw new Error('the private path /home/me');
    },
    projectShow: async ({ params }) => {
      throw new OrreryError('not_found', `No project ${params.id}.`, { rule: 'r', fix: 'f', details: { a: 1 } });
    },
    taskList: async (call) => {
      calls.push(call);
      return { items: [], nextCursor: null, seq: 3 };
    },
    tokenList: async () => ({ items: [token] }),
    tokenCreate: async () => ({ ...token, token: 5 as unknown as string }),
    projectRemove: async (call) => {
      calls.push(call);
      return { ok: true };
    },
  };

  const ask = async (
    path: string,
    init: { method?: string; scope?: Scope | null; headers?: Record<string, string>; body?: string | ReadableStream } = {},
  ) => {
    const log = createLog({ sink: { write: (line) => logged.push(line), close: () => undefined }, clock: systemClock });
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    app ??= createApi({
      handlers,
      admit: createAdmission({ tokens, clock }),
      streams: noStreams,
      clock,
      log,
      checkAnswers: true,
      bodyLimitBytes: 200,
      hosts: ['orrery.test'],
    });
    const { scope = 'owner' } = init;
    const response = await app.request(path, {
      method: init.method ?? 'GET',
      headers: { host: 'localhost:4747', ...(scope === null ? {} : { authorization: `Bearer ${scope}` }), ...init.headers },
      body: init.body,
      ...(init.body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit);
    const json = (await response.json()) as {
      error?: { code: string; message: string; fix: string | null; details: { issues?: unknown } | null };
    };
    return { status: response.status, json, headers: response.headers };
  };
  let app: ReturnType<typeof createApi> | null = null;
  const json = { 'content-type': 'application/json' };

  it('lets the parsed call through and answers with the status of the table and security headers', async () => {
    const asked = await ask('/api/v1/tasks?limit=5&state=running', { scope: 'viewer' });
    expect([asked.status, asked.json]).toEqual([200, { items: [], nextCursor: null, seq: 3 }]);
    expect(calls).toEqual([
      { params: {}, query: { limit: 5, state: 'running' }, body: undefined, caller: { name: 'test', scope: 'viewer' } },
    ]);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('answers health without a token and nothing else', async () => {
    expect(await ask('/api/v1/health', { scope: null })).toMatchObject({ status: 200, json: { ok: true } });
    const refused = await ask('/api/v1/tasks', { scope: null });
    expect([refused.status, refused.json.error?.code, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'unauthenticated',
      'Bearer realm="orrery"',
    ]);
  });

  it('holds every operation to its scope, also the event streams', async () => {
    expect(await ask('/api/v1/tokens', { scope: 'operator' })).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
    expect(await ask('/api/v1/tokens', { scope: 'owner' })).toMatchObject({ status: 200, json: { items: [token] } });
    expect(await ask('/api/v1/events', { scope: null })).toMatchObject({ status: 401 });
    expect(await ask('/api/v1/tasks/x/events', { scope: null })).toMatchObject({ status: 401 });
  });

  it('says in the whole envelope what a handler refused', async () => {
    const asked = await ask('/api/v1/projects/prj_1');
    expect([asked.status, asked.json]).toEqual([
      404,
      { error: { code: 'not_found', message: 'No project prj_1.', rule: 'r', fix: 'f', retryable: false, details: { a: 1 } } },
    ]);
  });

  it('tells nothing of a failure that was not meant, and logs its kind', async () => {
    const asked = await ask('/api/v1/projects', { method: 'POST', headers: json, body: '{"source":"/x"}' });
    expect([asked.status, asked.json.error?.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(asked.json) + logged.join('')).not.toContain('private');
    expect(logged.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['api.failed']);
  });

  it('takes only JSON that is declared so, whole and within the limit', async () => {
    const post = (init: { headers?: Record<string, string>; body?: string | ReadableStream }) =>
      ask('/api/v1/queue/pause', { method: 'POST', ...init });
    expect(await post({ headers: { 'content-type': 'text/plain' }, body: '{}' })).toMatchObject({
      status: 415,
      json: { error: { code: 'unsupported_media_type' } },
    });
    expect(await post({})).toMatchObject({ status: 415 });
    expect(await post({ headers: json, body: '' })).toMatchObject({ status: 400, json: { error: { code: 'empty_input' } } });
    const broken = await post({ headers: json, body: '{"secret words' });
    expect([broken.status, broken.json.error?.code]).toEqual([400, 'invalid_input']);
    expect(broken.json.error?.message).not.toContain('secret');
    expect(await post({ headers: json, body: 'x'.repeat(201) })).toMatchObject({
      status: 413,
      json: { error: { code: 'input_too_large' } },
    });
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(150))) });
    expect(await post({ headers: json, body: endless })).toMatchObject({ status: 413 });
    const latin = new ReadableStream({
      start: (controller) => (controller.enqueue(new Uint8Array([0x22, 0xff, 0x22])), controller.close()),
    });
    expect(await post({ headers: json, body: latin })).toMatchObject({
      status: 400,
      json: { error: { message: 'The body is not UTF-8.' } },
    });
    expect(calls).toEqual([]);
    expect(await post({ headers: { 'content-type': 'application/json; charset=UTF-8' }, body: '{}' })).toMatchObject({
      status: 200,
    });
  });

  it('refuses keys it does not know with the one that was meant, in body and query', async () => {
    const body = await ask('/api/v1/queue/pause', { method: 'POST', headers: json, body: '{"requestID":"a"}' });
    expect(body).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'unknown_key',
          fix: 'Write "requestId" instead of "requestID".',
          details: { where: 'body', issues: [{ path: 'requestID', guess: 'requestId' }] },
        },
      },
    });
    expect(await ask('/api/v1/tasks?limt=5')).toMatchObject({
      status: 400,
      json: { error: { code: 'unknown_key', details: { where: 'query' } } },
    });
    expect(await ask('/api/v1/tasks?limit=5&limit=6')).toMatchObject({ status: 400, json: { error: { code: 'invalid_input' } } });
    const wrong = await ask('/api/v1/tasks?limit=5000');
    expect(wrong).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_input', details: { issues: [{ path: 'limit' }] } } },
    });
  });

  it('takes an Idempotency-Key as the request id, and refuses where that would promise too much', async () => {
    const post = (headers: Record<string, string>, body: string, path = '/api/v1/queue/pause') =>
      ask(path, { method: 'POST', headers: { ...json, ...headers }, body });
    expect(await post({ 'idempotency-key': 'key-1' }, '{}')).toMatchObject({ status: 200 });
    expect(calls).toMatchObject([{ body: { requestId: 'key-1' } }]);
    expect(await post({ 'idempotency-key': 'key-1' }, '{"requestId":"key-2"}')).toMatchObject({
      status: 409,
      json: { error: { code: 'request_conflict' } },
    });
    expect(await post({ 'idempotency-key': ' ; ' }, '{}')).toMatchObject({ status: 400 });
    expect(await post({ 'idempotency-key': 'k' }, '{"name":"n","scope":"viewer"}', '/api/v1/tokens')).toMatchObject({
      status: 409,
      json: { error: { code: 'unsupported' } },
    });
  });

  it('says what it has and has not', async () => {
    expect(await ask('/api/v1/usage')).toMatchObject({ status: 409, json: { error: { code: 'unsupported' } } });
    const { operations } = (await ask('/api/v1/capabilities')).json as unknown as { operations: string[] };
    expect(operations).toEqual([...Object.keys(handlers), 'health', 'capabilities'].toSorted());
    expect(await ask('/api/v1/nothing')).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    expect(await ask('/api/v1/tasks', { method: 'DELETE' })).toMatchObject({ status: 404 });
  });

  it('does not answer a host that is not its own, or the page of another site', async () => {
    const from = async (headers: Record<string, string>) => (await ask('/api/v1/tasks', { headers })).status;
    expect(await from({ host: 'evil.example' })).toBe(403);
    expect(await from({ host: 'localhost.evil.example:4747' })).toBe(403);
    expect(await from({ host: '' })).toBe(403);
    expect(await from({ host: 'orrery.test' })).toBe(200);
    expect(await from({ host: '[::1]:4747' })).toBe(200);
    expect(await from({ host: '127.0.0.1:4747', origin: 'http://evil.example' })).toBe(403);
    expect(await from({ host: '127.0.0.1:4747', origin: 'http://127.0.0.1:9999' })).toBe(403);
    expect(await from({ host: '127.0.0.1:4747', origin: 'null' })).toBe(403);
    expect(await from({ host: '127.0.0.1:4747', origin: 'http://127.0.0.1:4747' })).toBe(200);
  });

  it('slows down those who try tokens, and nobody else: not who shows none, as a page that is not let in', async () => {
    app = null;
    const wrong = { scope: null, headers: { authorization: 'Bearer wrong' } } as const;
    const tries = [];
    for (let n = 0; n < 22; n++) tries.push((await ask('/api/v1/tasks', wrong)).status);
    expect(tries).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    expect((await ask('/api/v1/tasks')).status).toBe(200);
    const shown = [];
    for (let n = 0; n < 30; n++) shown.push((await ask('/api/v1/tasks', { scope: null })).status);
    expect(new Set(shown)).toEqual(new Set([401]));
    nowMs += 2_000;
    expect((await ask('/api/v1/tasks', wrong)).status).toBe(401);
  });

  it('holds our own answers to their schemas in tests', async () => {
    const asked = await ask('/api/v1/tokens', { method: 'POST', headers: json, body: '{"name":"n","scope":"viewer"}' });
    expect([asked.status, asked.json.error?.code]).toEqual([500, 'internal']);
  });

  it('passes a query of a DELETE, without a body', async () => {
    expect(await ask('/api/v1/projects/prj_1?salvage=true', { method: 'DELETE' })).toMatchObject({ status: 200 });
    expect(calls).toMatchObject([{ params: { id: 'prj_1' }, query: { salvage: true } }]);
  });
});
