// What an editor does: it starts `orrery acp` and speaks the protocol with it. Every message of both sides is kept and
// checked against the protocol's own schema.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { onTestFinished } from 'vitest';
import type { Place } from './place.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');

/** A message as it was on the wire. */
export type Wire = {
  readonly from: 'editor' | 'agent';
  readonly message: {
    readonly jsonrpc: string;
    readonly id?: number | string | null;
    readonly method?: string;
    readonly params?: unknown;
    readonly result?: unknown;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
};

export type Editor = {
  readonly agent: ClientContext;
  readonly wire: readonly Wire[];
  /** Updates of a session so far. */
  updates(session: string): SessionUpdate[];
  /** What the agent said in a session, as one text. */
  said(session: string): string;
  stderr(): string;
  /** Writes bytes as they are. */
  raw(bytes: string | Uint8Array): void;
  /** SIGKILL of the editor's side: its end of both pipes goes away. */
  vanish(): Promise<number | null>;
  /** Closes standard input; answers the exit code. */
  close(): Promise<number | null>;
};

export type EditorOptions = {
  readonly args?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  /** How it answers a question; the default never does. */
  readonly permission?: (asked: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  readonly words?: (asked: { readonly message: string }) => Promise<CreateElicitationResponse>;
};

type Definition = { readonly 'x-method'?: string; readonly 'x-side'?: string };

/** Schemas of the protocol by what they are of: `session/prompt params`, `session/prompt result`. */
const protocolSchemas = (): Map<string, ValidateFunction> => {
  const path = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
  const schema = JSON.parse(readFileSync(path, 'utf8')) as { readonly $defs: Readonly<Record<string, Definition>> };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schema, 'acp');
  const found = new Map<string, ValidateFunction>();
  for (const [name, definition] of Object.entries(schema.$defs)) {
    const method = definition['x-method'];
    if (method === undefined) continue;
    const of = name.endsWith('Response') ? 'result' : 'params';
    found.set(`${method} ${of}`, ajv.compile({ $ref: `acp#/$defs/${name}` }));
  }
  found.set('error', ajv.compile({ $ref: 'acp#/$defs/Error' }));
  return found;
};

const schemas = protocolSchemas();

/** What of a dialogue the protocol's schema does not allow. */
export const faultsOf = (wire: readonly Wire[]): string[] => {
  const asked = new Map<string, string>();
  return wire.flatMap(({ from, message }) => {
    const check = (name: string, value: unknown): string[] => {
      const validate = schemas.get(name);
      if (validate === undefined) return [`${from}: nothing is known of ${name}`];
      return validate(value) ? [] : [`${from}: ${name}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`];
    };
    if (message.jsonrpc !== '2.0') return [`${from}: no JSON-RPC: ${JSON.stringify(message)}`];
    if (message.method !== undefined) {
      if (message.id !== undefined) asked.set(`${from} ${message.id}`, message.method);
      return check(`${message.method} params`, message.params);
    }
    if (message.error !== undefined) return check('error', message.error);
    const method = asked.get(`${from === 'editor' ? 'agent' : 'editor'} ${message.id}`);
    return method === undefined
      ? [`${from}: an answer to nothing: ${JSON.stringify(message)}`]
      : check(`${method} result`, message.result);
  });
};

/** Hands lines on and keeps each as a message. */
const kept = (from: Wire['from'], wire: Wire[]): TransformStream<Uint8Array, Uint8Array> => {
  let rest = '';
  const decoder = new TextDecoder();
  return new TransformStream({
    transform: (chunk, controller) => {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) wire.push({ from, message: JSON.parse(line) as Wire['message'] });
      controller.enqueue(chunk);
    },
  });
};

/** Starts the command as an editor does, and says hello. It is ended with the test. */
export const startEditor = async (place: Place, cwd: string, options: EditorOptions = {}): Promise<Editor> => {
  const child = spawn(process.execPath, [MAIN, 'acp', ...(options.args ?? [])], {
    cwd,
    env: { ...place.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  child.stdin.on('error', () => undefined);
  const wire: Wire[] = [];
  const notifications: SessionNotification[] = [];
  const outward = kept('editor', wire);
  void outward.readable.pipeTo(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>).catch(() => undefined);
  const inward = (Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>).pipeThrough(kept('agent', wire));
  const never = (): Promise<never> => new Promise(() => undefined);
  const connection = client({ name: 'editor of a test' })
    .onNotification(methods.client.session.update, ({ params }) => void notifications.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => (options.permission ?? never)(params, signal))
    .onRequest(methods.client.elicitation.create, ({ params }) => (options.words ?? never)(params))
    .connect(ndJsonStream(outward.writable, inward));
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
    clientInfo: { name: 'editor-of-a-test', version: '1' },
  });
  const updates = (session: string): SessionUpdate[] =>
    notifications.flatMap(({ sessionId, update }) => (sessionId === session ? [update] : []));
  return {
    agent,
    wire,
    updates,
    said: (session) =>
      updates(session)
        .flatMap((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
        )
        .join(''),
    stderr: () => stderr,
    raw: (bytes) => void child.stdin.write(bytes),
    vanish: () => {
      child.stdin.destroy();
      child.stdout.destroy();
      return ended;
    },
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
};
