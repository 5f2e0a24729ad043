import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelCall, Reply } from './model-call.ts';
import { refusalOf } from './refusal.ts';
import type { RefusalName, RefusalTime } from './refusal.ts';
import type { ExactError, Step } from './script.ts';
import type { Wire, WireEvent } from './wire/wire.ts';

/** One model call that is about to be answered. `gone` fires when the caller has left or the server closes. */
export type Stage = {
  readonly wire: Wire;
  readonly call: ModelCall;
  readonly step: Step;
  readonly reply: Reply;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
};

const GARBAGE = '<html><body>\u0000 this is neither JSON nor a stream of events {"type": "message_st\n\n\n]]]';

/** Plays the step into the response. Resolves true only when a good reply was written to its end. */
export async function play(stage: Stage): Promise<boolean> {
  const { step, response, gone } = stage;
  try {
    if (step.delay_ms !== undefined) await sleep(step.delay_ms, undefined, { signal: gone });
    if (step.drop === true) return hangUp(response);
    if (step.error !== undefined) return refuse(stage, step.error);
    if (step.garbage === true) return garbage(stage);
    return stage.call.stream ? await streamReply(stage) : await wholeReply(stage);
  } catch (error) {
    if (gone.aborted || response.destroyed) return false;
    throw error;
  }
}

/** The status, headers and body of a refusal in the wire's own words. */
export function refusalAnswer(
  wire: Wire,
  error: RefusalName | ExactError,
  time: RefusalTime,
): { status: number; headers: Record<string, string>; body: string } {
  if (typeof error !== 'string') {
    const body = error.body ?? { error: { message: 'scripted error' } };
    return { status: error.status, headers: { ...error.headers }, body: typeof body === 'string' ? body : JSON.stringify(body) };
  }
  const refusal = refusalOf(error, time);
  return {
    status: refusal.status,
    headers: { ...refusal.headers, ...wire.refusalHeaders(refusal) },
    body: JSON.stringify(wire.refuse(refusal)),
  };
}

function refuse({ wire, response, reply, step }: Stage, error: RefusalName | ExactError): false {
  const answer = refusalAnswer(wire, error, { nowSeconds: reply.created, resetsIn: step.resets_in });
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers, ...step.headers });
  response.end(answer.body);
  return false;
}

function garbage({ call, response, step }: Stage): false {
  response.writeHead(200, { 'content-type': call.stream ? 'text/event-stream' : 'application/json', ...step.headers });
  response.end(GARBAGE);
  return false;
}

function hangUp(response: ServerResponse): false {
  response.socket?.destroy();
  return false;
}

async function wholeReply({ wire, call, reply, step, response, gone }: Stage): Promise<boolean> {
  const body = JSON.stringify(wire.whole(call, reply));
  response.writeHead(200, { 'content-type': 'application/json', ...step.headers });
  if (step.cut !== undefined) {
    await write(response, body.slice(0, cutAt(body.length, step.cut)), gone);
    return hangUp(response);
  }
  if (step.hang_after !== undefined) return await hang(response, gone);
  response.end(body);
  return true;
}

async function streamReply(stage: Stage): Promise<boolean> {
  const { wire, call, reply, step, response, gone } = stage;
  const events = [...wire.stream(call, reply)];
  const stop = step.cut === undefined ? Number.POSITIVE_INFINITY : cutAt(events.length, step.cut);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...step.headers });
  response.flushHeaders();
  if (step.unknown === true) await write(response, frame({ event: 'x_surprise', payload: wire.unknown() }), gone);
  for (const [index, event] of events.entries()) {
    if (index === step.hang_after) return await hang(response, gone);
    if (index >= stop) return await cut(stage);
    await writeIn(step.write_bytes, { response, gone, text: frame(event) });
    if (step.chunk_ms !== undefined) await sleep(step.chunk_ms, undefined, { signal: gone });
  }
  if (step.hang_after !== undefined) return await hang(response, gone);
  response.end();
  return true;
}

async function cut({ wire, step, reply, response, gone }: Stage): Promise<false> {
  if (step.stream_error !== undefined) {
    const { body } = refusalAnswer(wire, step.stream_error, { nowSeconds: reply.created, resetsIn: step.resets_in });
    await write(response, `event: error\ndata: ${body}\n\n`, gone);
  }
  if (step.stream_error === undefined && step.clean !== true) return hangUp(response);
  response.end();
  return false;
}

/** Goes quiet with the connection open until the other side leaves. */
async function hang(response: ServerResponse, gone: AbortSignal): Promise<false> {
  response.flushHeaders();
  if (!gone.aborted) await once(gone, 'abort');
  return false;
}

type Writing = { readonly response: ServerResponse; readonly gone: AbortSignal; readonly text: string };

/** The same in writes of so many bytes, wherever that cuts a character; absent: in one. */
async function writeIn(bytes: number | undefined, { response, gone, text }: Writing): Promise<void> {
  if (bytes === undefined) return await write(response, text, gone);
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += bytes) await write(response, all.subarray(from, from + bytes), gone);
}

/** Resolves when the bytes have left the process: what was written before a cut does arrive. */
async function write(response: ServerResponse, text: string | Uint8Array, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  await new Promise<void>((resolve, reject) => response.write(text, (error) => (error ? reject(error) : resolve())));
}

function frame({ event, payload }: WireEvent): string {
  const line = payload === '[DONE]' ? payload : JSON.stringify(payload);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${line}\n\n`;
}

function cutAt(length: number, share: number | true): number {
  return Math.max(1, Math.floor(length * (share === true ? 0.5 : share)));
}
