/** A client for the tests: node:http only, over a port or a Unix socket. */
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { ScriptedModel } from '../src/index.ts';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** False when the connection ended before the answer did. */
  readonly complete: boolean;
};

type Ask = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

/** Asks the server and reads the answer to its end, whole or not. Rejects when there was no answer at all. */
export function ask(
  server: Pick<ScriptedModel, 'port' | 'socket'>,
  path: string,
  { method = 'POST', headers = {}, body, signal }: Ask = {},
): Promise<Answer> {
  const target = server.socket === undefined ? { host: '127.0.0.1', port: server.port } : { socketPath: server.socket };
  return new Promise((resolve, reject) => {
    const call = request(
      { ...target, path, method, headers: { 'content-type': 'application/json', ...headers }, signal, agent: false },
      (response) => {
        call.off('error', reject).on('error', () => {});
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => {}); // `complete` tells
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
            complete: response.complete,
          }),
        );
      },
    );
    call.on('error', reject);
    if (body !== undefined) call.write(Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body));
    call.end();
  });
}

/** One server-sent event as it was read back. */
export type ReadEvent = { readonly event: string | undefined; readonly data: Readonly<Record<string, unknown>> | '[DONE]' };

/** Reads a stream of events back. A half event at the end is left out. */
export function readEvents(body: string): ReadEvent[] {
  return body
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const lines = block.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const text = lines
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice(6))
        .join('\n');
      return { event, data: text === '[DONE]' ? text : JSON.parse(text) };
    });
}

/** The events' contents, without the closing `[DONE]`. */
export function contents(body: string): Readonly<Record<string, unknown>>[] {
  return readEvents(body).flatMap(({ data }) => (data === '[DONE]' ? [] : [data as Readonly<Record<string, unknown>>]));
}
