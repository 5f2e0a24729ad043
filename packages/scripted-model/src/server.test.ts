import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closingServer } from '../test/closing-server.ts';
import { ask, contents, readEvents } from '../test/http-client.ts';
import { KEPT_BODY_BYTES } from './call-log.ts';
import { ScriptError } from './script.ts';
import { start } from './server.ts';

const PATH = '/v1/messages';
const body = (text = 'do it', more: object = {}): object => ({
  model: 'm',
  stream: true,
  tools: [{ name: 't' }],
  messages: [{ role: 'user', content: text }],
  ...more,
});
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scripted-model-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a reply that goes wrong', () => {
  it('is cut in the middle: some events come, the connection breaks', async () => {
    await using server = await closingServer({ script: [{ text: 'half of this is lost', cut: 0.5 }] });
    const answer = await ask(server, PATH, { body: body() });
    expect({
      complete: answer.complete,
      first: readEvents(answer.body)[0]?.event,
      last: readEvents(answer.body).at(-1)?.event,
    }).toEqual({ complete: false, first: 'message_start', last: 'content_block_delta' });
  });

  it('ends early but cleanly, or after an error event', async () => {
    await using server = await closingServer({
      script: [
        { text: 'half of this is lost', cut: 0.5, clean: true },
        { text: 'half of this is lost', cut: 0.5, stream_error: 'overloaded' },
      ],
    });
    const [clean, error] = [await ask(server, PATH, { body: body() }), await ask(server, PATH, { body: body() })];
    expect([clean.complete, readEvents(clean.body).at(-1)?.event, error.complete, readEvents(error.body).at(-1)]).toEqual([
      true,
      'content_block_delta',
      true,
      {
        event: 'error',
        data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_overloaded' },
      },
    ]);
  });

  it('hangs after some events until the caller leaves', async () => {
    await using server = await closingServer({ script: [{ text: 'it goes quiet', hang_after: 2 }] });
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 50);
    const answer = await ask(server, PATH, { body: body(), signal: leave.signal });
    expect([answer.complete, readEvents(answer.body).map(({ event }) => event)]).toEqual([
      false,
      ['message_start', 'content_block_start'],
    ]);
  });

  it('hangs after the headers when it says 0 events', async () => {
    await using server = await closingServer({ script: [{ text: 'nothing', hang_after: 0 }] });
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 50);
    expect(await ask(server, PATH, { body: body(), signal: leave.signal })).toMatchObject({
      status: 200,
      body: '',
      complete: false,
    });
  });

  it('drops the connection without an answer', async () => {
    await using server = await closingServer({ script: [{ drop: true }] });
    await expect(ask(server, PATH, { body: body() })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('is neither JSON nor events', async () => {
    await using server = await closingServer({ script: [{ garbage: true }, { garbage: true }] });
    const [stream, whole] = [
      await ask(server, PATH, { body: body() }),
      await ask(server, PATH, { body: body('x', { stream: false }) }),
    ];
    expect([stream.status, stream.headers['content-type'], whole.headers['content-type']]).toEqual([
      200,
      'text/event-stream',
      'application/json',
    ]);
    expect(
      () =>
        readEvents(stream.body)
          .filter(({ event }) => event !== undefined)
          .at(0) ?? JSON.parse(stream.body),
    ).toThrow(SyntaxError);
    expect(() => JSON.parse(whole.body)).toThrow(SyntaxError);
  });

  it('is exactly the error the script gives', async () => {
    await using server = await closingServer({
      script: [{ error: { status: 418, headers: { 'x-why': 'tea' }, body: 'short' } }],
    });
    expect(await ask(server, PATH, { body: body() })).toMatchObject({ status: 418, body: 'short', headers: { 'x-why': 'tea' } });
  });
});

describe('a good reply', () => {
  it('can be one enormous line', async () => {
    await using server = await closingServer({ script: [{ bytes: 300_000 }] });
    const deltas = contents((await ask(server, PATH, { body: body() })).body).filter(
      (event) => event['type'] === 'content_block_delta',
    );
    expect(deltas.map((event) => (event['delta'] as { text: string }).text.length)).toEqual([300_000]);
  });

  it('carries the headers of the step, and waits as long as it says', async () => {
    await using server = await closingServer({ script: [{ text: 'x', headers: { 'x-window': '5' }, delay_ms: 40 }] });
    const before = performance.now();
    const answer = await ask(server, PATH, { body: body() });
    expect([answer.headers['x-window'], performance.now() - before >= 39]).toEqual(['5', true]);
  });

  it('says so when the script has no step left', async () => {
    await using server = await closingServer();
    const deltas = contents((await ask(server, PATH, { body: body() })).body).flatMap(
      (event) => (event['delta'] as { text?: string } | undefined)?.text ?? [],
    );
    expect([deltas.join(''), server.log()[0]?.step]).toEqual(['The script has no further step.', 'default']);
  });

  it('an intent without a tool for it is a 400 that names the tools', async () => {
    await using server = await closingServer({ script: [{ shell: 'ls' }] });
    const answer = await ask(server, PATH, { body: body() });
    expect([answer.status, JSON.parse(answer.body), server.calls()]).toEqual([
      400,
      { error: { message: 'scripted model: no offered tool can shell. Offered: t. Name a tool with `tool` instead.' } },
      1,
    ]);
  });
});

describe('the request', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('may be packed with %s', async (encoding, pack) => {
    await using server = await closingServer();
    await ask(server, PATH, { headers: { 'content-encoding': encoding }, body: pack(JSON.stringify(body('packed'))) });
    expect(server.log().map((entry) => entry.call?.opening)).toEqual(['packed']);
  });

  it('that is not packed as it says, or not JSON, is refused', async () => {
    await using server = await closingServer();
    const [packed, unknown, text] = [
      await ask(server, PATH, { headers: { 'content-encoding': 'gzip' }, body: 'no' }),
      await ask(server, PATH, { headers: { 'content-encoding': 'lzw' }, body: 'no' }),
      await ask(server, PATH, { body: 'no' }),
    ];
    expect(
      [packed, unknown, text].map(({ status, body: said }) => [
        status,
        (JSON.parse(said) as { error: { message: string } }).error.message,
      ]),
    ).toEqual([
      [400, expect.stringMatching(/^request body: not gzip: /)],
      [400, 'request body: content-encoding `lzw` is not known. Use gzip, deflate, br or zstd.'],
      [400, 'scripted model: the body of a model call must be a JSON object'],
    ]);
    expect(server.calls()).toBe(3);
  });

  it('to another path is a 404, a tunnel is refused, and all of it is logged', async () => {
    await using server = await closingServer();
    expect((await ask(server, '/v1/else', { method: 'GET' })).status).toBe(404);
    expect(await raw(server.port, 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(
      await raw(server.port, 'GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 426 /);
    expect(server.log().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/else',
      'CONNECT example.com:443',
      'GET /v1/responses',
    ]);
  });
});

describe('control', () => {
  it('works by path as in process', async () => {
    await using server = await closingServer({ script: { scripts: { fix: { marker: '[fix]', steps: [] } } } });
    await ask(server, '/__script', { body: { text: 'a' } });
    await ask(server, '/__script?name=fix', { body: [{ text: 'b' }] });
    expect(JSON.parse((await ask(server, '/__queue', { method: 'GET' })).body)).toEqual({
      '': [{ text: 'a' }],
      fix: [{ text: 'b' }],
    });
    await ask(server, PATH, { body: body('MARKER-1') });
    expect(JSON.parse((await ask(server, '/__prompts', { method: 'GET' })).body)).toEqual({ 'MARKER-1': 1 });
    expect((JSON.parse((await ask(server, '/__log', { method: 'GET' })).body) as object[]).length).toBe(1);
    await ask(server, '/__reset', { body: [{ text: 'c' }] });
    expect([server.queue(), server.log(), server.promptCounts()]).toEqual([{ '': [{ text: 'c' }] }, [], {}]);
  });

  it('refuses a script it cannot play, and plays on', async () => {
    await using server = await closingServer({ script: [{ text: 'kept' }] });
    const answer = await ask(server, '/__script', { body: [{ txt: 'a' }] });
    expect([answer.status, server.queue()]).toEqual([400, { '': [{ text: 'kept' }] }]);
    await expect(start({ script: [{ txt: 'a' }] })).rejects.toThrow(ScriptError);
  });

  it('logs a long body cut at 64 KiB', async () => {
    await using server = await closingServer();
    await ask(server, PATH, { body: body('x'.repeat(100_000)) });
    const [entry] = server.log();
    expect([entry?.body.length, (entry?.bodyBytes ?? 0) > 100_000, entry?.call?.opening.length]).toEqual([
      KEPT_BODY_BYTES,
      true,
      KEPT_BODY_BYTES,
    ]);
  });
});

describe('the address', () => {
  it('can be a Unix socket, which is gone after the end', async () => {
    const socket = join(folder, 's.sock');
    const server = await start({ socket, script: [{ text: 'hi' }] });
    expect((await ask(server, PATH, { body: body('x', { stream: false }) })).body).toContain('hi');
    await server.close();
    expect(existsSync(socket)).toBe(false);
  });

  it('is refused when it is taken', async () => {
    await using server = await closingServer();
    await expect(start({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('is loopback only', async () => {
    await using server = await closingServer();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  });
});

it('writes each call to the log file, readable by its owner alone', async () => {
  const logFile = join(folder, 'calls.jsonl');
  const server = await start({ logFile });
  await ask(server, PATH, { body: body() });
  await server.close();
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  expect([lines.map((line) => (JSON.parse(line) as { path: string }).path), statSync(logFile).mode & 0o777]).toEqual([
    [PATH],
    0o600,
  ]);
});

it('closes at once although a call hangs and another waits', async () => {
  const server = await start({
    script: [
      { text: 'x', hang_after: 1 },
      { text: 'y', delay_ms: 60_000 },
    ],
  });
  const pending = [ask(server, PATH, { body: body() }), ask(server, PATH, { body: body() })].map((asked) =>
    asked.then(
      () => 'answered',
      () => 'refused',
    ),
  );
  while (server.calls() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = performance.now();
  await server.close();
  await Promise.all(pending);
  expect(performance.now() - before).toBeLessThan(1_000);
});

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => (answer += chunk))
      .on('close', () => resolve(answer))
      .on('error', reject);
  });
}
