import { operations, streamPaths, type OrreryError } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { json, read, refusal, useServers } from '../test/use-servers.ts';
import { createClient as createBrowserClient } from './browser.ts';
import { httpTransport, routes } from './index.ts';
import { streamRoutes } from './routes.ts';

const { serve, clientOf, closeServers } = useServers();

describe('the routes', () => {
  it('are those of the operation table', () => {
    const table = Object.fromEntries(Object.entries(operations).map(([name, { method, path }]) => [name, { method, path }]));
    expect({ routes, streamRoutes }).toEqual({ routes: table, streamRoutes: streamPaths });
  });
});

describe('call', () => {
  it('sends method, path, query, body, token and request id as the API wants them', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      void read(request).then((body) => {
        const { authorization, 'content-type': type, 'idempotency-key': key } = request.headers;
        seen.push({ line: `${request.method} ${request.url}`, authorization, type, key, body });
        json(response, 200, { ok: true });
      });
    });
    const client = clientOf(url);
    await client.call('taskCancel', { params: { id: 'a/b' }, body: {}, idempotencyKey: 'req_1' });
    await client.call('taskLog', { params: { id: 'x' }, query: { after: 3 } });
    expect(seen).toEqual([
      {
        line: 'POST /api/v1/tasks/a%2Fb/cancel',
        authorization: 'Bearer orr_owner_test',
        type: 'application/json',
        key: 'req_1',
        body: '{}',
      },
      {
        line: 'GET /api/v1/tasks/x/log?after=3',
        authorization: 'Bearer orr_owner_test',
        type: undefined,
        key: undefined,
        body: '',
      },
    ]);
  });

  it('throws the error of the envelope with its rule, fix and details', async () => {
    const body = {
      code: 'dirty_tree',
      message: 'The tree is dirty.',
      rule: 'R',
      fix: 'F',
      retryable: false,
      details: { files: 2 },
    };
    const url = await serve((_, response) => json(response, 409, { error: body }));
    const thrown = await clientOf(url)
      .call('taskApply', { params: { id: 'x' }, body: {} })
      .catch((error: unknown) => error);
    expect((thrown as OrreryError).toBody()).toEqual(body);
  });

  it('refuses redirects, other content, broken JSON and answers that are too large', async () => {
    const answers: Record<string, Parameters<typeof serve>[0]> = {
      '/api/v1/health': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      '/api/v1/node': (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      '/api/v1/usage': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      '/api/v1/tokens': (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const chunk = 'x'.repeat(8 * 1024 * 1024);
        for (let piece = 0; piece < 5; piece++) response.write(chunk);
        response.end();
      },
    };
    const url = await serve((request, response) => answers[request.url ?? '']?.(request, response));
    const client = clientOf(url);
    const refusals = await Promise.all([
      refusal(client.call('health')),
      refusal(client.call('nodeShow')),
      refusal(client.call('usageShow')),
      refusal(client.call('tokenList')),
    ]);
    expect(refusals).toEqual([
      { code: 'answer_invalid', message: "The node's answer cannot be used: it is a redirect, and redirects are not followed." },
      { code: 'answer_invalid', message: "The node's answer cannot be used: it is not the JSON that was asked for." },
      { code: 'answer_invalid', message: "The node's answer cannot be used: it is not JSON." },
      { code: 'answer_invalid', message: "The node's answer cannot be used: it has more than 33554432 bytes." },
    ]);
  });

  it('tells a node that is not there from a write whose outcome nobody knows', async () => {
    const url = await serve((request) => void request.socket.destroy());
    const client = clientOf(url);
    const cut = [await refusal(client.call('queuePause', { body: {} })), await refusal(client.call('nodeShow'))];
    closeServers();
    const absent = [await refusal(client.call('queuePause', { body: {} })), await refusal(client.call('nodeShow'))];
    expect([...cut, ...absent].map(({ code }) => code)).toEqual([
      'outcome_unknown',
      'node_unreachable',
      'node_unreachable',
      'node_unreachable',
    ]);
  });

  it('reads the token again once for reads, and never for writes', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(`${request.method} ${request.headers.authorization}`);
      const good = request.headers.authorization === 'Bearer new';
      json(response, good ? 200 : 401, good ? { ok: true } : { error: { code: 'unauthenticated', message: 'No.' } });
    });
    let reads = 0;
    const client = clientOf(url, { token: () => (reads++ % 2 === 0 ? 'old' : 'new') });
    const answer = await client.call('health');
    const write = await refusal(client.call('queuePause', { body: {} }));
    expect({ answer, write, seen }).toEqual({
      answer: { ok: true },
      write: { code: 'unauthenticated', message: 'No.' },
      seen: ['GET Bearer old', 'GET Bearer new', 'POST Bearer old'],
    });
  });

  it('ends at its deadline', async () => {
    const url = await serve(() => undefined);
    const client = clientOf(url);
    const read = await refusal(client.call('health', { timeoutMs: 30 }));
    const write = await refusal(client.call('queuePause', { body: {}, timeoutMs: 30 }));
    const stopped = await refusal(clientOf(url, { stop: AbortSignal.abort(new Error('enough')) }).call('health'));
    expect({ read, write: write.code, stopped: stopped.code }).toEqual({
      read: { code: 'deadline', message: 'The node did not answer within 0.03 s.' },
      write: 'outcome_unknown',
      stopped: 'node_unreachable',
    });
  });

  it('works over fetch the same way', async () => {
    const url = await serve((request, response) =>
      request.url === '/api/v1/health'
        ? json(response, 200, { ok: true })
        : void response.writeHead(302, { location: url }).end(),
    );
    const client = createBrowserClient({ url, token: null });
    expect([await client.call('health'), await refusal(client.call('nodeShow'))]).toEqual([
      { ok: true },
      { code: 'answer_invalid', message: "The node's answer cannot be used: it is a redirect, and redirects are not followed." },
    ]);
  });
});

describe('a kept connection that the node closed meanwhile', () => {
  it('is repeated for reads', async () => {
    let calls = 0;
    const url = await serve((request, response) => {
      calls++;
      if (calls === 2) request.socket.destroy();
      else json(response, 200, { ok: true });
    });
    const client = clientOf(url, { transport: httpTransport() });
    const answers = [await client.call('health'), await client.call('health')];
    expect({ answers, calls }).toEqual({ answers: [{ ok: true }, { ok: true }], calls: 3 });
  });
});
