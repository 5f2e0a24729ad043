import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { grants, openBrokerPlace, type BrokerPlace } from '../../test/broker-place.ts';
import { MCP_REQUEST_BYTES } from './limits.ts';
import { createProviders } from './providers.ts';

const SECRET = 'canary-of-the-vault-0123456789';
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

type Seen = { readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A server that remembers what it was asked and answers as a stream; it would like a log-in. */
const openServer = async () => {
  const seen: Seen[] = [];
  const server = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (part: Buffer) => (body += part.toString()));
    asked.on('end', () => {
      seen.push({ method: asked.method ?? '', url: asked.url ?? '', headers: asked.headers, body });
      answer.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's1', 'www-authenticate': 'Bearer x' });
      answer.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  opened.push(server);
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const openPlace = async (path = '/mcp/?of=me') => {
  const far = await openServer();
  const provider = (name: string, key: string | null) =>
    createProviders(
      { [name]: { baseUrl: `${far.url}${path}`, keyStyle: 'bearer', headers: { 'x-team': 'shop' } } },
      async () => key,
    ).find(name);
  const place = await openBrokerPlace({
    mcpServer: (name) => (name === 'far' ? provider(name, SECRET) : name === 'bare' ? provider(name, null) : null),
  });
  opened.push(place);
  const { run } = await place.broker.tokens.mint({ ...grants('env_1'), mcp: ['far', 'bare', 'gone'] });
  return { place, run, seen: far.seen };
};

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };
const ask = (
  { broker }: BrokerPlace,
  path: string,
  given: { readonly token?: string; readonly method?: string; readonly body?: string },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { token, method = 'POST', body = '{"jsonrpc":"2.0","id":1,"method":"ping"}' } = given;
    const asked = request({
      ...{ socketPath: broker.socketPath, path, method },
      headers: {
        ...{ 'content-type': 'application/json', 'mcp-session-id': 's1', cookie: 'a=b', 'x-api-key': token ?? '' },
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    asked.on('error', reject);
    asked.on('response', (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    asked.end(method === 'POST' ? body : undefined);
  });

describe('the way to MCP servers', () => {
  it('puts on the credential, keeps the run token, and passes the rest both ways', async () => {
    const { place, run, seen } = await openPlace();
    const answer = await ask(place, '/mcp/far', { token: run });
    expect([answer.status, answer.body]).toEqual([200, 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n']);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'mcp-session-id': 's1' });
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(seen).toMatchObject([
      {
        ...{ method: 'POST', url: '/mcp/?of=me', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
        headers: { authorization: `Bearer ${SECRET}`, 'mcp-session-id': 's1', 'x-team': 'shop' },
      },
    ]);
    expect(JSON.stringify(seen)).not.toContain(run);
    expect(seen[0]?.headers).not.toHaveProperty('cookie');
    expect(JSON.stringify([answer, place.logged, await place.audited()])).not.toContain(SECRET);
    expect((await ask(place, '/mcp/far', { token: run, method: 'DELETE' })).status).toBe(200);
  });

  it('leads nowhere but to servers that the token names, at their one address', async () => {
    const { place, run, seen } = await openPlace();
    const { run: plain } = await place.broker.tokens.mint(grants('env_2'));
    const codes = [
      ...[await ask(place, '/mcp/far', {}), await ask(place, '/mcp/far', { token: 'orr_made-up' })],
      ...[await ask(place, '/mcp/far', { token: plain }), await ask(place, '/mcp/gone', { token: run })],
      ...[await ask(place, '/mcp/else', { token: run }), await ask(place, '/mcp/far/admin', { token: run })],
      ...[await ask(place, '/mcp/far?x=y', { token: run }), await ask(place, '/mcp/..', { token: run })],
      ...[await ask(place, '/mcp/far', { token: run, method: 'PUT' }), await ask(place, '/mcp/bare', { token: run })],
      await ask(place, '/mcp/far', { token: run, body: 'x'.repeat(MCP_REQUEST_BYTES + 1) }),
    ];
    expect(codes.map(({ status }) => status)).toEqual([401, 401, 404, 404, 404, 404, 404, 404, 405, 503, 413]);
    await place.broker.tokens.end('env_1');
    expect((await ask(place, '/mcp/far', { token: run })).status).toBe(401);
    expect(seen).toEqual([]);
    const refused = (await place.audited()).filter(({ action }) => action === 'mcp.call');
    expect(refused.map(({ actor, subject, detail }) => [actor, subject, detail?.['reason']])).toContainEqual([
      'task:task-of-env_2',
      'far',
      'not granted',
    ]);
  });

  it('says so when the server cannot be reached', async () => {
    const { place, run } = await openPlace();
    for (const one of opened.splice(0, 1)) await one.close();
    const answer = await ask(place, '/mcp/far', { token: run });
    expect([answer.status, answer.body]).toEqual([502, expect.stringContaining('The server far cannot be reached.')]);
  });
});
