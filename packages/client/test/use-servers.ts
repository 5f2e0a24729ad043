import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OrreryError } from '@orrery/protocol';
import { afterEach } from 'vitest';
import { createClient, type Client } from '../src/index.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Servers and clients of one test file; all are closed after each test. */
export const useServers = (): {
  serve(handler: Handler): Promise<string>;
  clientOf(url: string, options?: Partial<Parameters<typeof createClient>[0]>): Client;
  closeServers(): void;
} => {
  const servers: Server[] = [];
  const clients: Client[] = [];
  const closeServers = (): void => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  };
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    closeServers();
  });
  return {
    closeServers,
    serve: async (handler) => {
      const server = createServer(handler);
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    clientOf: (url, options = {}) => {
      const client = createClient({
        url,
        token: 'orr_owner_test',
        pace: { sleep: () => Promise.resolve(), random: () => 0 },
        ...options,
      });
      clients.push(client);
      return client;
    },
  };
};

/** Answers with JSON. */
export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Reads a body. */
export const read = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** The code and message of what a promise rejects with. */
export const refusal = async (promise: Promise<unknown>): Promise<{ code: string; message: string }> => {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof OrreryError)) throw new Error(`expected an OrreryError, got ${String(thrown)}`);
  return { code: thrown.code, message: thrown.message };
};
