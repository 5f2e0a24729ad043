import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Hands one request to Git's own server program and its answer back, as a web server does. */
export const gitBackend = (
  request: IncomingMessage,
  response: ServerResponse,
  { root, user }: { readonly root: string; readonly user: string },
): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://host');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: request.headers['content-length'] }),
      REMOTE_USER: user,
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      const lines = answer.toString('latin1', 0, Math.max(0, end)).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const { Status: status = '200', ...others } = headers;
      response.writeHead(end === -1 ? 500 : Number.parseInt(status, 10), end === -1 ? {} : others);
      response.end(answer.subarray(end + 4), resolve);
    });
  });
};
