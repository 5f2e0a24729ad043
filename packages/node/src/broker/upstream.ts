// One request to a provider: no retries, no redirects, no compression, one silence limit.

import {
  Agent as HttpAgent,
  request as requestHttp,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { CONNECT_MS } from './limits.ts';
import { keyHeader, type Payment, type Provider } from './providers.ts';

/** Why there was no answer, or no end of it. */
export type UpstreamFault = Error & { readonly kind: 'unreachable' | 'quiet' | 'gone' };

export type Upstream = {
  /** Resolves with the head of the answer; the body is its stream. @throws UpstreamFault; the stream fails with one of kind `quiet` too */
  send(call: {
    readonly provider: Provider;
    readonly key: string | null;
    /** Absent or null: the key pays. */
    readonly payment?: Payment | null;
    readonly method: string;
    readonly path: string;
    readonly headers: OutgoingHttpHeaders;
    readonly body: Buffer;
    readonly signal: AbortSignal;
  }): Promise<IncomingMessage>;
  close(): void;
};

/** Whether something thrown is a fault of the way to the provider. */
export const isUpstreamFault = (thrown: unknown): thrown is UpstreamFault => thrown instanceof Error && 'kind' in thrown;

const faultOf = (kind: UpstreamFault['kind']): UpstreamFault => Object.assign(new Error(`provider ${kind}`), { kind });

/** Makes the way out; connections are kept for the next call. `quietMs`: silence after which a call is ended. */
export const createUpstream = ({ quietMs }: { readonly quietMs: () => number }): Upstream => {
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxFreeSockets: 64 }),
    https: new HttpsAgent({ keepAlive: true, maxFreeSockets: 64 }),
  };
  return {
    send: ({ provider, key, payment = null, method, path, headers, body, signal }) => {
      const { baseUrl, socket } = payment === null ? provider : { baseUrl: payment.baseUrl, socket: null };
      const secure = baseUrl.protocol === 'https:' && socket === null;
      const options: RequestOptions = {
        method,
        path: `${baseUrl.pathname.replace(/\/+$/, '')}${path}`,
        headers: {
          ...headers,
          ...(payment === null ? { ...provider.headers, ...keyHeader(provider.keyStyle, key) } : payment.headers(headers)),
          host: baseUrl.host,
          'accept-encoding': 'identity',
          ...(body.length > 0 || method === 'POST' ? { 'content-length': String(body.length) } : {}),
        },
        agent: secure ? agents.https : agents.http,
        timeout: quietMs(),
        signal,
        ...(socket === null
          ? { hostname: baseUrl.hostname.replace(/^\[|\]$/g, ''), port: baseUrl.port === '' ? undefined : Number(baseUrl.port) }
          : { socketPath: socket }),
      };
      return new Promise((resolve, reject) => {
        const request = secure ? requestHttps(options) : requestHttp(options);
        let fault: UpstreamFault['kind'] = 'unreachable';
        let answer: IncomingMessage | null = null;
        const connecting = setTimeout(() => request.destroy(), CONNECT_MS);
        request.once('socket', (connection) => {
          if (!connection.connecting) return clearTimeout(connecting);
          connection.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
        });
        request.once('timeout', () => {
          fault = 'quiet';
          if (answer === null) request.destroy();
          else answer.destroy(faultOf('quiet'));
        });
        request.once('response', (head) => {
          answer = head;
          clearTimeout(connecting);
          resolve(head);
        });
        request.once('upgrade', (_head, socket) => socket.destroy());
        request.on('error', () => {
          clearTimeout(connecting);
          reject(faultOf(signal.aborted ? 'gone' : fault));
        });
        request.once('close', () => reject(faultOf(signal.aborted ? 'gone' : fault)));
        request.end(body);
      });
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};
