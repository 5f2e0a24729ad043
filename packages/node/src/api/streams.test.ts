import { get, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { NewEvent, Store } from '../store/store.ts';
import { createAdmission } from './admit.ts';
import { createApi } from './door.ts';
import { serveApi, type ApiServer } from './server.ts';
import { createStreams, type StreamParts, type Streams } from './streams.ts';
import { listen } from '../../test/event-stream.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const note = (taskId: string | null, text: string): NewEvent => ({
  taskId,
  turn: null,
  body: { kind: 'notice', level: 'info', text },
});

describe('event streams', () => {
  let directory = '';
  let store: Store;
  let server: ApiServer;
  let streams: Streams;

  const serve = async (settings: Partial<StreamParts> = {}): Promise<void> => {
    streams = createStreams({ store, log, ...settings });
    const tokens = {
      authenticate: async (header: string | undefined) => {
        if (header !== 'Bearer viewer') throw new OrreryError('unauthenticated', 'no');
        return { name: 'test', scope: 'viewer' as const };
      },
    };
    const app = createApi({
      handlers: {},
      admit: createAdmission({ tokens, clock: systemClock }),
      streams,
      clock: systemClock,
      log,
    });
    server = await serveApi({
      app,
      streams,
      upgrades: { take: () => undefined, close: () => undefined },
      host: '127.0.0.1',
      port: 0,
      insecureBind: false,
    });
  };
  const events = (query = ''): string => `${server.url}/api/v1/events${query}`;
  const ownEvents = (id: string, query = ''): string => `${server.url}/api/v1/tasks/${id}/events${query}`;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-streams-'));
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
    await store.transaction(async ({ db }) => {
      for (const id of ['tsk_a', 'tsk_b']) {
        await db
          .insertInto('task')
          .values({
            id,
            request_id: id,
            intent_hash: '',
            intent: '{}',
            state: 'running',
            harness: 'command',
            backend: 'local',
            cancel_requested: 0,
            created_at: 1,
          })
          .execute();
      }
    });
    await serve();
  });
  afterEach(async () => {
    await server.close();
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('begin with the cursor, replay what lies above it, and go on live', async () => {
    const [, second] = await store.append([note('tsk_a', 'one'), note('tsk_b', 'two')]);
    const reader = await listen(events('?after=1'));
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    await reader.frames(2);
    const [third] = await store.append([note(null, 'three')]);
    expect(await reader.frames(3)).toEqual([
      { event: 'hello', id: null, data: { after: 1, seq: 2 } },
      { event: 'message', id: '2', data: second },
      { event: 'message', id: '3', data: third },
    ]);
  });

  it('of a task count by its sequence and hold its events alone', async () => {
    await store.append([note('tsk_a', 'a1'), note('tsk_b', 'b1'), note('tsk_a', 'a2')]);
    const reader = await listen(ownEvents('tsk_a'));
    await reader.frames(3);
    await store.append([note('tsk_b', 'b2'), note('tsk_a', 'a3')]);
    const heard = await reader.frames(4);
    expect(heard.map(({ id, data }) => [id, (data as OrreryEvent).sequence ?? null])).toEqual([
      [null, null],
      ['1', 1],
      ['2', 2],
      ['3', 3],
    ]);
  });

  it('prefer what the reader heard last to the cursor of its address', async () => {
    await store.append([note(null, '1'), note(null, '2'), note(null, '3')]);
    const reader = await listen(events('?after=0'), { 'last-event-id': '2' });
    expect((await reader.frames(2)).map(({ id, data }) => id ?? data)).toEqual([{ after: 2, seq: 3 }, '3']);
  });

  it('of the node begin now when no cursor is given', async () => {
    await store.append([note(null, '1')]);
    const reader = await listen(events());
    expect(await reader.frames(1)).toEqual([{ event: 'hello', id: null, data: { after: 1, seq: 1 } }]);
  });

  it('say that a cursor lies ahead of the node, and go on from its newest event', async () => {
    await store.append([note('tsk_a', '1')]);
    const reader = await listen(events('?after=99'));
    await reader.frames(1);
    await store.append([note('tsk_a', '2')]);
    expect((await reader.frames(2)).map(({ event, id, data }) => [event, id ?? data])).toEqual([
      ['reset', { after: 1, seq: 1 }],
      ['message', '2'],
    ]);
    const ofTask = await listen(ownEvents('tsk_a', '?after=7'));
    expect(await ofTask.frames(1)).toEqual([{ event: 'reset', id: null, data: { after: 2, seq: 2 } }]);
  });

  it('say that what follows the cursor is no longer kept', async () => {
    await store.append([note(null, '1'), note(null, '2'), note(null, '3')]);
    await store.transaction(({ db }) => db.deleteFrom('event').where('seq', '<=', 2).execute());
    const reader = await listen(events('?after=1'));
    expect((await reader.frames(2)).map(({ event, id, data }) => [event, id ?? data])).toEqual([
      ['reset', { after: 2, seq: 3 }],
      ['message', '3'],
    ]);
  });

  it('hold only the kinds that were asked for', async () => {
    await store.append([note(null, '1'), { taskId: null, turn: null, body: { kind: 'queue.paused' } }]);
    const reader = await listen(events('?after=0&types=queue.paused,queue.resumed'));
    await reader.frames(2);
    await store.append([note(null, '3'), { taskId: null, turn: null, body: { kind: 'queue.resumed' } }]);
    expect((await reader.frames(3)).map(({ id }) => id)).toEqual([null, '2', '4']);
  });

  it('refuse a task that is not there and a cursor that is none, before the first byte', async () => {
    const status = async (url: string): Promise<number | undefined> => {
      const response = await new Promise<IncomingMessage>((resolve) =>
        get(url, { headers: { authorization: 'Bearer viewer' }, agent: false }, resolve),
      );
      response.resume();
      return response.statusCode;
    };
    expect(await status(ownEvents('tsk_none'))).toBe(404);
    expect(await status(events('?after=-1'))).toBe(400);
    expect(await status(events('?afte=1'))).toBe(400);
  });

  it('disconnect a reader that does not keep up, with its cursor, while others go on', async () => {
    await server.close();
    await serve({ bufferBytes: 1_200_000 });
    const slow = connect(server.port, '127.0.0.1');
    slow.write(
      `GET /api/v1/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer viewer\r\nconnection: close\r\n\r\n`,
    );
    await new Promise((resolve) => slow.once('readable', resolve));
    const quick = await listen(events('?after=0'));
    await quick.frames(1);
    let appended = 0;
    while (streams.readers === 2 && appended < 200) {
      await store.append([note(null, 'x'.repeat(500_000))]);
      await quick.frames(++appended + 1);
    }
    expect(streams.readers).toBe(1);
    let text = '';
    slow.setEncoding('utf8');
    slow.on('data', (chunk: string) => (text += chunk));
    await new Promise((resolve) => slow.once('close', resolve));
    const last = [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1];
    expect(text).toContain(`: too slow; cursor ${last}\n\n`);
    expect(Number(last)).toBeLessThan(appended);
  });

  it('disconnect a reader that takes nothing of its replay', async () => {
    await server.close();
    await serve({ stallMs: 50 });
    for (let n = 0; n < 30; n++) await store.append([note(null, 'x'.repeat(700_000))]);
    const slow = connect(server.port, '127.0.0.1');
    slow.write(
      'GET /api/v1/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer viewer\r\nconnection: close\r\n\r\n',
    );
    await new Promise((resolve) => slow.once('readable', resolve));
    while (streams.readers > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    slow.destroy();
  });

  it('keep quiet connections awake with comments, and end with the node', async () => {
    await server.close();
    await serve({ keepAliveMs: 10 });
    const reader = await listen(events());
    await reader.frames(1);
    while (reader.comments.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(reader.comments.slice(0, 2)).toEqual(['still here', 'still here']);
    await server.close();
    expect((await reader.end()).at(-1)).toBe('the node is stopping; cursor 0');
  });

  it('are served to a bounded number of readers', async () => {
    await server.close();
    await serve({ maxReaders: 1 });
    const first = await listen(events());
    await first.frames(1);
    const second = await new Promise<IncomingMessage>((resolve) =>
      get(events(), { headers: { authorization: 'Bearer viewer' }, agent: false }, resolve),
    );
    second.resume();
    expect(second.statusCode).toBe(429);
  });
});

describe('the server', () => {
  const serve = (port: number, host = '127.0.0.1') => {
    const unread = async (): Promise<void> => undefined;
    const streams: Streams = { node: unread, task: unread, session: unread, readers: 0, close: () => undefined };
    const tokens = { authenticate: async () => ({ name: 'test', scope: 'owner' as const }) };
    const handlers = { queuePause: async () => ({ ok: true as const }) };
    const app = createApi({
      handlers,
      admit: createAdmission({ tokens, clock: systemClock }),
      streams,
      clock: systemClock,
      log,
      bodyLimitBytes: 1_000,
    });
    return serveApi({
      app,
      streams,
      upgrades: { take: () => undefined, close: () => undefined },
      host,
      port,
      insecureBind: false,
      closeMs: 100,
    });
  };

  it('refuses a taken port and an address that others reach, each by name', async () => {
    const server = await serve(0);
    await expect(serve(server.port)).rejects.toMatchObject({ code: 'conflict' });
    await expect(serve(0, '0.0.0.0')).rejects.toMatchObject({ code: 'refused_by_policy' });
    await server.close();
  });

  it('answers in our envelope over a real connection, also to a body that is too large', async () => {
    const server = await serve(0);
    const post = (body: string) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const sent = request(
          `${server.url}/api/v1/queue/pause`,
          { method: 'POST', agent: false, headers: { authorization: 'Bearer x', 'content-type': 'application/json' } },
          (response) => {
            readText(response).then((text) => resolve({ status: response.statusCode, text }), reject);
          },
        );
        sent.on('error', reject);
        sent.end(body);
      });
    expect(await post('{}')).toEqual({ status: 200, text: '{"ok":true}' });
    const refused = await post(JSON.stringify({ requestId: 'x'.repeat(2_000) }));
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([413, { error: { code: 'input_too_large' } }]);
    await server.close();
  });

  it('closes while a client keeps its connection open', async () => {
    const server = await serve(0);
    const socket = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.on('error', () => undefined);
    await server.close();
    socket.destroy();
  });
});
