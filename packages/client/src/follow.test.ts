import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OrreryEvent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { json, refusal, useServers } from '../test/use-servers.ts';

const { serve, clientOf, closeServers } = useServers();

const eventOf = (cursor: number): OrreryEvent => ({
  seq: cursor * 10,
  at: '2026-01-01T00:00:00.000Z',
  taskId: 'tsk_1',
  sequence: cursor,
  turn: null,
  body: { kind: 'text', row: 'r', text: `é${cursor}` },
});
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
      const frames = Buffer.from(
        upTo(100)
          .filter((cursor) => cursor >= after)
          .map(frameOf)
          .join(''),
      );
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

    closeServers();
    const broken = await serve((request, response) => void stream(response).end(helloOf(afterOf(request)) + frameOf(7)));
    expect(await refusal(collect(clientOf(broken).taskEvents('tsk_1'), 7))).toEqual({
      code: 'answer_invalid',
      message: "The node's answer cannot be used: events are missing.",
    });
  });

  it('follow the node by seq, where holes are allowed', async () => {
    const url = await serve(
      (request, response) => void stream(response).write(helloOf(afterOf(request)) + frameOf(1) + frameOf(4)),
    );
    expect(await collect(clientOf(url).events({ after: 5 }), 4)).toEqual([1, 4]);
  });

  it('end with cursor_expired on a reset, or go on from it when the reader wants to know', async () => {
    const url = await serve((request, response) => {
      const after = afterOf(request);
      stream(response).write(
        after < 7 ? `event: reset\ndata: {"after":7,"seq":99}\n\n${frameOf(8)}` : helloOf(after) + frameOf(8),
      );
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
      if (request.url?.includes('gone') === true)
        return json(response, 404, { error: { code: 'not_found', message: 'No such task.' } });
      return void stream(response).end(helloOf(3));
    });
    const elsewhere = await refusal(collect(clientOf(url).taskEvents('tsk_1'), 1));
    const tries = connections;
    const gone = await refusal(collect(clientOf(url).taskEvents('gone'), 1));
    expect({ elsewhere: elsewhere.code, tries, gone, total: connections }).toEqual({
      elsewhere: 'answer_invalid',
      tries: 3,
      gone: { code: 'not_found', message: 'No such task.' },
      total: 4,
    });
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
    expect({ failure, pauses }).toEqual({
      failure: { code: 'node_draining', message: 'Draining.' },
      pauses: [100, 200, 400, 800, 1600, 3200, 5000, 5000],
    });
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
