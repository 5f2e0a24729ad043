/** MCP servers for tests: one over HTTP that lets in whoever has its credential, and one that is a script of the repository. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Asked = { readonly id?: number | string; readonly method: string; readonly params?: { readonly protocolVersion?: string } };

/** What a server with one tool answers. */
const resultOf = ({ method, params }: Asked): object => {
  if (method === 'initialize')
    return {
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'far', version: '1' },
    };
  return method === 'tools/list'
    ? { tools: [{ name: 'lookup', description: 'FAR-tool', inputSchema: { type: 'object', properties: {} } }] }
    : {};
};

/** Starts one over HTTP. `authorizations`: what every request showed; `methods`: what was asked with the credential. */
export const startMcpServer = async (credential: string) => {
  const authorizations = new Set<string>();
  const methods: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      authorizations.add(request.headers.authorization ?? '');
      if (request.headers.authorization !== `Bearer ${credential}`) return response.writeHead(401).end();
      if (request.method !== 'POST') return response.writeHead(405).end();
      const asked = JSON.parse(body) as Asked;
      methods.push(asked.method);
      if (asked.id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: resultOf(asked) }));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, authorizations, methods };
};

/** One over stdin and stdout; it leaves a file where it is started. */
export const mcpScript = `touch near-was-here
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$1" "$2"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\\("[^"]*"\\|[0-9]*\\).*/\\1/p')
  case $line in
    *'"method":"initialize"'*) answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"near","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer "$id" '{"tools":[{"name":"near","description":"NEAR-tool","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *) [ -z "$id" ] || answer "$id" '{}' ;;
  esac
done
`;
