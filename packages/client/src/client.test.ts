import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations, streamPaths, OrreryError, type OrreryEvent } from '@orrery/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient as createBrowserClient } from './browser.ts';
import { createClient, httpTransport, routes, type Client } from './index.ts';
import { streamRoutes } from './routes.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const open: { server?: Server; clients: Client[] } = { clients: [] };

const serve = async (handler: Handler): Promise<string> => {
  const server = createServer(handler);
  open.server = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const clientOf = (url: string, options: Partial<Parameters<typeof createClient>[0]> = {}): Client => {
  const client = createClient({ url, token: 'orr_owner_test', pace: { sleep: () => Promise.resolve(), random: () => 0 }, ...options });
  open.clients.push(client);
  return client;
};

afterEach(() => {
  for (const client of open.clients.splice(0)) client.close();
  open.server?.closeAllConnections();
  open.server?.close();
});

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const read = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
};

const refusal = async (promise: Promise<unknown>): Promise<{ code: string; message: string }> => {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof OrreryError)) throw new Error(`expected an OrreryError, got ${String(thrown)}`);
  return { code: thrown.code, message: thrown.message };
};

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
      { line: 'POST /api/v1/tasks/a%2Fb/cancel', authorization: 'Bearer orr_owner_test', type: 'application/json', key: 'req_1', body: '{}' },
      { line: 'GET /api/v1/tasks/x/log?after=3', authorization: 'Bearer orr_owner_test', type: undefined, key: undefined, body: '' },
    ]);
  });

  it('throws the error of the envelope with its rule, fix and details', async () => {
    const body = { code: 'dirty_tree', message: 'The tree is dirty.', rule: 'R', fix: 'F', retryable: false, details: { files: 2 } };
    const url = await serve((_, response) => json(response, 409, { error: body }));
    const thrown = await clientOf(url)
      .call('taskApply', { params: { id: 'x' }, body: {} })
      .catch((error: unknown) => error);
    expect((thrown as OrreryError).toBody()).toEqual(body);
  });

  it('refuses redirects, other content, broken JSON and answers that are too large', async () => {
    const answers: Record<string, Handler> = {
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
    const refusals = await Promise.all([refusal(client.call('health')), refusal(client.call('nodeShow')), refusal(client.call('usageShow')), refusal(client.call('tokenList'))]);
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
    open.server?.close();
    open.server?.closeAllConnections();
    const absent = [await refusal(client.call('queuePause', { body: {} })), await refusal(client.call('nodeShow'))];
    expect([...cut, ...absent].map(({ code }) => code)).toEqual(['outcome_unknown', 'node_unreachable', 'node_unreachable', 'node_unreachable']);
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
    expect({ answer, write, seen }).toEqual({ answer: { ok: true }, write: { code: 'unauthenticated', message: 'No.' }, seen: ['GET Bearer old', 'GET Bearer new', 'POST Bearer old'] });
  });

  it('ends at its deadline', async () => {
    const url = await serve(() => undefined);
    expect(await refusal(clientOf(url).call('health', { timeoutMs: 30 }))).toEqual({ code: 'deadline', message: 'The node did not answer within 0.03 s.' });
  });

  it('works over fetch the same way', async () => {
    const url = await serve((request, response) => (request.url === '/api/v1/health' ? json(response, 200, { ok: true }) : void response.writeHead(302, { location: url }).end()));
    const client = createBrowserClient({ url, token: null });
    expect([await client.call('health'), await refusal(client.call('nodeShow'))]).toEqual([
      { ok: true },
      { code: 'answer_invalid', message: "The node's answer cannot be used: it is a redirect, and redirects are not followed." },
    ]);
  });
});

const eventOf = (cursor: number): OrreryEvent => ({ seq: cursor * 10, at: '2026-01-01T00:00:00.000Z', taskId: 'tsk_1', sequence: cursor, turn: null, body: { kind: 'text', row: 'r', text: `é${cursor}` } });
const frameOf = (cursor: number): string => `id: ${cursor}\ndata: ${JSON.stringify(eventOf(cursor))}\n\n`;
const helloOf = (after: number): string => `event: hello\ndata: ${JSON.stringify({ after, seq: 999 })}\n\n`;
const afterOf = (request: IncomingMessage): number => Number(new URL(request.url ?? '', 'http://x').searchParams.get('after'));

const collect = async (events: AsyncIterable<OrreryEvent>, last: number): Promise<number[]> => {
  const seen: number[] = [];
  for await (const event of events) {
    seen.push(event.sequence ?? -1);
    if (event.sequence === last) break;
  }
  return seen;
};

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const stream = (response: ServerResponse): ServerResponse => response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('event streams', () => {
  it('give each event exactly once when the connection is cut 20 times, in the middle of frames and characters', async () => {
    let connections = 0;
    const url = await serve((request, response) => {
      connections++;
      const after = afterOf(request);
      stream(response).write(helloOf(after));
      // The server repeats the last event, as one that computes its replay a little too early would.
      const frames = Buffer.from(upTo(100).filter((cursor) => cursor >= after).map(frameOf).join(''));
      const whole = connections > 20;
      // Every cut lands elsewhere: after one event and a part of the next.
      const length = whole ? frames.length : frameOf(after).length + frameOf(after + 1).length + 40 + connections * 9;
      response.write(frames.subarray(0, length), () => setTimeout(() => (whole ? undefined : request.socket.destroy()), 2));
    });
    const lost: boolean[] = [];
    const seen = await collect(clientOf(url).taskEvents('tsk_1', { onConnection: (reason) => lost.push(reason !== null) }), 100);
    expect({ seen, connections, changes: lost.length }).toEqual({ seen: upTo(100), connections: 21, changes: 40 });
  });

  it('reopen when events of a task are missing, and say so when they stay missing', async () => {
    let connections = 0;
    const url = await serve((request, response) => {
      connections++;
      const after = afterOf(request);
      const cursors = connections === 1 ? [1, 2, 4] : upTo(5).filter((cursor) => cursor > after);
      stream(response).end(helloOf(after) + cursors.map(frameOf).join(''));
    });
    expect(await collect(clientOf(url).taskEvents('tsk_1'), 5)).toEqual(upTo(5));

    open.server?.close();
    const broken = await serve((request, response) => void stream(response).end(helloOf(afterOf(request)) + frameOf(7)));
    expect(await refusal(collect(clientOf(broken).taskEvents('tsk_1'), 7))).toEqual({ code: 'answer_invalid', message: "The node's answer cannot be used: events are missing." });
  });

  it('follow the node by seq, where holes are allowed', async () => {
    const url = await serve((request, response) => void stream(response).write(helloOf(afterOf(request)) + frameOf(1) + frameOf(4)));
    expect(await collect(clientOf(url).events({ after: 5 }), 4)).toEqual([1, 4]);
  });

  it('end with cursor_expired on a reset, or go on from it when the reader wants to know', async () => {
    const url = await serve((request, response) => {
      const after = afterOf(request);
      stream(response).write(after < 7 ? `event: reset\ndata: {"after":7,"seq":99}\n\n${frameOf(8)}` : helloOf(after) + frameOf(8));
    });
    const resets: unknown[] = [];
    const refused = await refusal(collect(clientOf(url).taskEvents('tsk_1'), 8));
    const seen = await collect(clientOf(url).taskEvents('tsk_1', { onReset: (reset) => resets.push(reset) }), 8);
    expect({ code: refused.code, seen, resets }).toEqual({ code: 'cursor_expired', seen: [8], resets: [{ after: 7, seq: 99 }] });
  });

  it('refuse a stream that begins elsewhere, and give up at once on what does not pass', async () => {
    let connections = 0;
    const url = await serve((request, response) => {
      connections++;
      if (request.url?.includes('gone') === true) return json(response, 404, { error: { code: 'not_found', message: 'No such task.' } });
      return void stream(response).end(helloOf(3));
    });
    const elsewhere = await refusal(collect(clientOf(url).taskEvents('tsk_1'), 1));
    const tries = connections;
    const gone = await refusal(collect(clientOf(url).taskEvents('gone'), 1));
    expect({ elsewhere: elsewhere.code, tries, gone, total: connections }).toEqual({ elsewhere: 'answer_invalid', tries: 3, gone: { code: 'not_found', message: 'No such task.' }, total: 4 });
  });

  it('pause longer and longer, and give up when nothing was heard for long enough', async () => {
    const url = await serve((_, response) => json(response, 503, { error: { code: 'node_draining', message: 'Draining.' } }));
    let clock = 0;
    const pauses: number[] = [];
    const pace = {
      now: () => clock,
      random: () => 1,
      sleep: (ms: number) => {
        pauses.push(ms);
        clock += ms;
        return Promise.resolve();
      },
    };
    const failure = await refusal(collect(clientOf(url, { pace }).taskEvents('tsk_1', { awayMs: 15_000 }), 1));
    expect({ failure, pauses }).toEqual({ failure: { code: 'node_draining', message: 'Draining.' }, pauses: [100, 200, 400, 800, 1600, 3200, 5000, 5000] });
  });

  it('end quietly when the reader stops, and release the connection', async () => {
    const closed: Promise<unknown>[] = [];
    const url = await serve((request, response) => {
      closed.push(new Promise((resolve) => request.socket.on('close', resolve)));
      stream(response).write(helloOf(0) + frameOf(1));
    });
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const event of clientOf(url).taskEvents('tsk_1', { signal: stop.signal })) {
      seen.push(event.sequence ?? -1);
      stop.abort();
    }
    await Promise.all(closed);
    expect({ seen, connections: closed.length }).toEqual({ seen: [1], connections: 1 });
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
