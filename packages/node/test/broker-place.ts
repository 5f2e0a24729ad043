// A broker with a real store and a scripted provider, for tests: everything in one directory that goes away with it.

import { mkdtemp, rm } from 'node:fs/promises';
import { request as requestHttp, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { listAudit, type AuditRecord } from '../src/audit/index.ts';
import { createBroker, type Broker, type BrokerParts } from '../src/broker/broker.ts';
import type { LimitReport } from '../src/broker/model.ts';
import { createProviders, type ProviderSettings } from '../src/broker/providers.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createIds } from '../src/kernel/ids.ts';
import { createLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { startInlineWriter } from '../src/store/sqlite/inline-writer.ts';
import { openStore } from '../src/store/sqlite/open-store.ts';
import type { Store } from '../src/store/store.ts';

/** The key that only the provider may see. */
export const REAL_KEY = 'canary-real-key-0123456789';

export type BrokerPlace = {
  readonly directory: string;
  readonly store: Store;
  readonly broker: Broker;
  readonly model: ScriptedModel;
  /** The audit log, oldest first. */
  audited(): Promise<readonly AuditRecord[]>;
  readonly limits: LimitReport[];
  readonly logged: string[];
  restart(): Promise<Broker>;
  close(): Promise<void>;
};

export type PlaceOptions = {
  readonly script?: unknown;
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
} & Partial<
  Pick<BrokerParts, 'payment' | 'prices' | 'mcpServer' | 'egressDeny' | 'resolve' | 'providerQuietMs' | 'headersMs' | 'clock'>
>;

/** Opens such a place; the three known providers are the scripted model. */
export const openBrokerPlace = async ({ script = [], providers = {}, ...given }: PlaceOptions = {}): Promise<BrokerPlace> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-broker-'));
  const logged: string[] = [];
  const log = createLog({
    sink: { write: (line) => void logged.push(line), close: () => undefined },
    clock: systemClock,
    level: 'debug',
  });
  const store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  const model = await start({ script });
  const limits: LimitReport[] = [];
  const scripted = Object.fromEntries(['anthropic', 'openai', 'google'].map((id) => [id, { baseUrl: model.url }]));
  const all = createProviders({ ...scripted, ...providers }, async (name) => (name === 'absent' ? null : REAL_KEY));
  const begin = (): Promise<Broker> =>
    createBroker({
      socketPath: join(directory, 'broker.sock'),
      store,
      clock: systemClock,
      random: systemRandom,
      ids: createIds({ clock: systemClock, random: systemRandom }),
      log,
      providers: () => all,
      onLimits: (report) => void limits.push(report),
      ...given,
    });
  const place = { broker: await begin() };
  return {
    directory,
    store,
    model,
    audited: async () =>
      (await listAudit(store.read, { limit: 1000 })).toReversed().map(({ id: _id, at: _at, ...record }) => record),
    limits,
    logged,
    get broker() {
      return place.broker;
    },
    async restart() {
      await place.broker.close();
      place.broker = await begin();
      return place.broker;
    },
    async close() {
      await place.broker.close();
      await model.close();
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
};

export type Answer = {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly cut: boolean;
};

export type Asked = {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
};

/** One request to a Unix socket, answered as far as it came. */
export const ask = (socketPath: string, { path, method = 'POST', headers = {}, body, signal }: Asked): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = requestHttp(
      { socketPath, path, method, headers: { 'content-type': 'application/json', ...headers }, signal, agent: false },
      (answer) => {
        let text = '';
        const done = (cut: boolean) =>
          resolve({
            status: answer.statusCode ?? 0,
            reason: answer.statusMessage ?? '',
            headers: answer.headers,
            body: text,
            cut,
          });
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => (text += part));
        answer.on('end', () => done(!answer.complete));
        answer.on('error', () => done(true));
      },
    );
    request.on('error', reject);
    request.end(body);
  });

/** A model call on each wire, as the programs make them. */
export const callOn = {
  anthropic: (token: string, more: object = {}) => ({
    path: '/models/anthropic/v1/messages?beta=true',
    headers: { 'x-api-key': token, 'anthropic-version': '2023-06-01' },
    body: bodyOf({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      ...more,
    }),
  }),
  responses: (token: string, more: object = {}) => ({
    path: '/models/openai/v1/responses',
    headers: { authorization: `Bearer ${token}` },
    body: bodyOf({
      model: 'gpt-5.5',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }],
      stream: true,
      ...more,
    }),
  }),
  chat: (token: string, more: object = {}) => ({
    path: '/models/openai/v1/chat/completions',
    headers: { authorization: `Bearer ${token}` },
    body: bodyOf({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'hello' }], stream: true, ...more }),
  }),
  gemini: (token: string) => ({
    path: '/models/google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=leak',
    headers: { 'x-goog-api-key': token },
    body: bodyOf({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
  }),
} as const;

/** With a tool, so that the scripted model takes it for a main call. */
const bodyOf = (body: object): string => JSON.stringify({ ...body, ...toolsOf(body) });

const toolsOf = (body: object): object => {
  const schema = { type: 'object', properties: {} };
  if ('contents' in body) return { tools: [{ functionDeclarations: [{ name: 'noop', parameters: schema }] }] };
  if ('input' in body) return { tools: [{ type: 'function', name: 'noop', parameters: schema }] };
  if ('max_tokens' in body) return { tools: [{ name: 'noop', input_schema: schema }] };
  return { tools: [{ type: 'function', function: { name: 'noop', parameters: schema } }] };
};

/** Grants that allow everything the gateway can. */
export const grants = (environmentId: string, more: object = {}) => ({
  environmentId,
  taskId: `task-of-${environmentId}`,
  models: null,
  budgetUsd: null,
  egress: [] as readonly string[],
  ...more,
});

/** A run token of an environment. */
export const minted = async (place: BrokerPlace, environmentId = 'env_1', more: object = {}) =>
  (await place.broker.tokens.mint(grants(environmentId, more))).run;

/** The recorded calls, once those of the environment are durable. */
export const rows = async (place: BrokerPlace, environmentId = 'env_1') => {
  await place.broker.settled(environmentId);
  const all = await place.store.read.selectFrom('model_call').selectAll().execute();
  return all.map(
    ({ provider, model, status, input_tokens: input, output_tokens: output, cached_tokens: cached, cost_usd: cost }) => ({
      provider,
      model,
      status,
      input,
      output,
      cached,
      cost,
    }),
  );
};

/** Credentials for the proxy. */
export const basic = (token: string, user = 'egress'): string => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;

/** A tunnel through the egress proxy; rejects with the first line of a refusal. */
export const tunnelTo = (place: Pick<BrokerPlace, 'broker'>, target: string, token: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(place.broker.socketPath, () =>
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${basic(token)}\r\n\r\n`),
    );
    socket.once('data', (part: Buffer) => {
      const head = part.indexOf('\r\n\r\n') + 4;
      if (!part.toString().startsWith('HTTP/1.1 200')) return reject(new Error(part.toString().split('\r\n')[0]));
      if (part.length > head) socket.pause().unshift(part.subarray(head));
      resolve(socket);
    });
    socket.once('error', reject);
  });
