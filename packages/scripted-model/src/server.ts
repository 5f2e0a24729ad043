import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createCallLog, KEPT_BODY_BYTES } from './call-log.ts';
import type { CallLog, CallRecord } from './call-log.ts';
import { controlAnswer } from './control.ts';
import type { Controls } from './control.ts';
import { NoSuchTool } from './intent.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { lastText, openingText } from './model-call.ts';
import type { ModelCall } from './model-call.ts';
import { play } from './play.ts';
import { createPlaybook } from './playbook.ts';
import { createPromptCounter } from './prompt-counter.ts';
import { defaultStep, replyOf } from './reply.ts';
import { readBody, UnreadableBody } from './request-body.ts';
import { parseScript, parseSteps, ScriptError } from './script.ts';
import { wireFor } from './wires.ts';
import type { Wire } from './wire/wire.ts';

/** How to start a server. Everything may be left out: a free port, an empty script. */
export type ScriptedModelOptions = {
  /** Loopback port; 0 or absent takes a free one. */
  readonly port?: number;
  /** Path of a Unix socket to listen on instead of a port. It must not exist yet; it is removed at the end. */
  readonly socket?: string;
  /** A script as parsed JSON. */
  readonly script?: unknown;
  /** File that gets a JSON line per request. */
  readonly logFile?: string;
  /** Regular expression of the markers that `promptCounts` counts; `MARKER-…` if absent. */
  readonly markerPattern?: string;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
};

/** A running server. */
export type ScriptedModel = Controls & {
  /** `http://127.0.0.1:PORT`, or `http://localhost` when it listens on a socket. */
  readonly url: string;
  /** 0 when it listens on a socket. */
  readonly port: number;
  readonly socket?: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
};

type Context = {
  readonly controls: Controls;
  readonly log: CallLog;
  readonly take: (call: ModelCall) => Taking;
  readonly now: () => number;
};
type Taking = {
  readonly record: Pick<CallRecord, 'script' | 'step'>;
  readonly answer: (response: ServerResponse, wire: Wire) => Promise<void>;
};

/**
 * Starts a model server on 127.0.0.1 or a Unix socket; nothing else can reach it.
 * @throws ScriptError when the script cannot be played, and what `listen` throws when the address is taken
 */
export async function start(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const now = options.now ?? Date.now;
  const playbook = createPlaybook(parseScript(options.script ?? []));
  const prompts = createPromptCounter(options.markerPattern);
  const log = createCallLog(options.logFile);
  const closing = new AbortController();
  let serial = 0;

  const controls: Controls = {
    push: (steps, script) => playbook.push(parseSteps(steps), script),
    reset(script = []) {
      playbook.load(parseScript(script));
      log.forget();
      prompts.forget();
    },
    log: () => log.list(),
    calls: () => log.total(),
    queue: () => playbook.left(),
    promptCounts: () => prompts.counts(),
  };
  const take = (call: ModelCall): Taking => {
    const taken = playbook.take(call);
    const answered = prompts.note(call);
    const step = taken.step ?? defaultStep(call);
    serial += 1;
    const reply = replyOf(step, call, { serial, created: Math.floor(now() / 1000) });
    return {
      record: { script: taken.script, step: taken.step ?? 'default' },
      async answer(response, wire) {
        if (await play({ wire, call, step, reply, response, gone: goneSignal(response, closing.signal) })) answered();
      },
    };
  };
  const server = createServer((request, response) => {
    serve({ controls, log, take, now }, request, response).catch((error: unknown) => failVisibly(response, error));
  });
  refuseTunnels(server, (request) => log.add(recordOf(request, Buffer.alloc(0), now())));
  await listen(server, options);
  return { ...controls, ...address(server, options), close: () => close(server, { closing, log, socket: options.socket }) };
}

async function serve(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.socket.setNoDelay(true);
  const raw = await readBody(request).catch((error: unknown) => {
    context.log.add(recordOf(request, Buffer.alloc(0), context.now()));
    throw error;
  });
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
  const control = controlAnswer(context.controls, {
    path,
    query,
    body: () => JSON.parse(raw.toString('utf8')),
  });
  if (control !== undefined) return sendJson(response, control.status, control.body);

  const record = recordOf(request, raw, context.now());
  const wire = request.method === 'POST' ? wireFor(path) : undefined;
  const body = wire === undefined ? undefined : parseObject(raw);
  if (wire === undefined || body === undefined) {
    context.log.add(record);
    return sendOther(response, { method: request.method ?? '', path, wire });
  }
  const call = wire.read(body, path);
  const taking = takeOr(context, record, { wire, call });
  context.log.add({ ...record, ...taking.record, wire: wire.name, call: summary(call) });
  await taking.answer(response, wire);
}

/** A step that cannot be played for this call (no such tool) is told to the program and logged, not skipped. */
function takeOr(context: Context, record: CallRecord, { wire, call }: { wire: Wire; call: ModelCall }): Taking {
  try {
    return context.take(call);
  } catch (error) {
    if (error instanceof NoSuchTool || error instanceof ScriptError)
      context.log.add({ ...record, wire: wire.name, call: summary(call) });
    throw error;
  }
}

function sendOther(
  response: ServerResponse,
  request: { readonly method: string; readonly path: string; readonly wire: Wire | undefined },
): void {
  const { method, path, wire } = request;
  if (wire !== undefined)
    return sendJson(response, 400, { error: { message: 'scripted model: the body of a model call must be a JSON object' } });
  if (path.endsWith('/messages/count_tokens')) return sendJson(response, 200, { input_tokens: 100 });
  if (path.endsWith(':countTokens')) return sendJson(response, 200, { totalTokens: 100 });
  if (path.endsWith('/models')) return sendJson(response, 200, modelList());
  sendJson(response, 404, { error: { message: `scripted model: nothing is played at ${method} ${path}` } });
}

function modelList(): object {
  const ids = ['scripted-1', 'scripted-2'];
  return {
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', type: 'model', display_name: id, created: 0, owned_by: 'scripted' })),
    models: [],
    has_more: false,
  };
}

function summary(call: ModelCall): CallRecord['call'] {
  const { model, stream, effort, turns } = call;
  return {
    model,
    stream,
    effort,
    tools: call.tools.map((tool) => tool.name),
    roles: turns.map((turn) => turn.role),
    opening: openingText(call).slice(0, KEPT_BODY_BYTES),
    last: lastText(call).slice(0, KEPT_BODY_BYTES),
  };
}

function recordOf(request: IncomingMessage, raw: Buffer, at: number): CallRecord {
  return {
    at,
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: raw.subarray(0, KEPT_BODY_BYTES).toString('utf8'),
    bodyBytes: raw.length,
  };
}

function parseObject(raw: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // the caller answers 400
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function failVisibly(response: ServerResponse, error: unknown): void {
  const known =
    error instanceof ScriptError ||
    error instanceof NoSuchTool ||
    error instanceof UnreadableBody ||
    error instanceof SyntaxError ||
    error instanceof RangeError;
  if (response.headersSent || response.destroyed) return void response.destroy();
  sendJson(response, known ? 400 : 500, { error: { message: error instanceof Error ? error.message : String(error) } });
}

function goneSignal(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return AbortSignal.any([left.signal, closing]);
}

/** Programs try WebSockets and proxies; both are refused and logged, so that a test sees the attempt. */
function refuseTunnels(server: Server, note: (request: IncomingMessage) => void): void {
  const refuse = (line: string) => (request: IncomingMessage, socket: Duplex) => {
    note(request);
    socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  };
  server.on('upgrade', refuse('426 Upgrade Required'));
  server.on('connect', refuse('403 Forbidden'));
}

function listen(server: Server, options: ScriptedModelOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const ready = (): void => resolve();
    if (options.socket === undefined) server.listen(options.port ?? 0, '127.0.0.1', ready);
    else server.listen(options.socket, ready);
  });
}

function address(server: Server, options: ScriptedModelOptions): Pick<ScriptedModel, 'url' | 'port' | 'socket'> {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return { url: 'http://localhost', port: 0, socket: options.socket };
  return { url: `http://127.0.0.1:${bound.port}`, port: bound.port };
}

async function close(
  server: Server,
  held: { readonly closing: AbortController; readonly log: CallLog; readonly socket?: string },
): Promise<void> {
  held.closing.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  held.log.close();
  if (held.socket !== undefined) rmSync(held.socket, { force: true });
}
