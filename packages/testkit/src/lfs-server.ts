import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';

/** How a server behaves that is not honest, or not well. */
export type LfsFault = 'none' | 'other-content' | 'too-much' | 'breaks-off' | 'unknown' | 'no-json' | 'sends-on';

/** A Git LFS server for tests: the batch API and the basic transfer, over https on loopback, each repository by its path. */
export type LfsServer = {
  readonly port: number;
  /** Adds an object; answers its pointer. */
  add(content: Uint8Array): { readonly oid: string; readonly pointer: string };
  /** What was asked for, in order: `METHOD path`, with the user that was named. */
  readonly asked: string[];
  /** From now on. `location`: where `sends-on` sends downloads. */
  behave(fault: LfsFault, location?: string): void;
  close(): Promise<void>;
};

const mediaType = 'application/vnd.git-lfs+json';

const userOf = ({ headers }: IncomingMessage): string | null => {
  const given = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1];
  return given === undefined ? null : Buffer.from(given, 'base64').toString('utf8');
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** Starts one. `user`: `name:password` that it wants; null: everybody is let in. */
export const startLfsServer = async ({
  key,
  cert,
  host,
  user,
}: {
  readonly key: Uint8Array;
  readonly cert: Uint8Array;
  readonly host: string;
  readonly user: string | null;
}): Promise<LfsServer> => {
  const objects = new Map<string, Buffer>();
  const asked: string[] = [];
  let fault: LfsFault = 'none';
  let location = '';
  const batch = async (request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> => {
    const body = JSON.parse(await readBody(request)) as { operation: string; objects: { oid: string; size: number }[] };
    const root = (request.url ?? '').replace(/\/objects\/batch$/, '');
    const answer = body.objects.map(({ oid, size }) =>
      objects.get(oid)?.length === size && fault !== 'unknown'
        ? { oid, size, actions: { download: { href: `${origin}${root}/objects/${oid}`, header: { 'x-action': 'download' } } } }
        : { oid, size, error: { code: 404, message: 'Object does not exist' } },
    );
    response.writeHead(200, { 'content-type': mediaType });
    response.end(fault === 'no-json' ? '<html>' : JSON.stringify({ transfer: 'basic', objects: answer }));
  };
  const download = (response: ServerResponse, content: Buffer): void => {
    if (fault === 'sends-on') response.writeHead(302, { location }).end();
    else if (fault === 'other-content') response.end(Buffer.alloc(content.length, 'x'));
    else if (fault === 'too-much') response.end(Buffer.concat([content, content]));
    else if (fault === 'breaks-off') {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, content.length >> 1), () => response.destroy());
    } else response.end(content);
  };
  const server = createServer({ key: Buffer.from(key), cert: Buffer.from(cert) }, (request, response) => {
    const given = userOf(request);
    asked.push(`${request.method} ${request.url}${given === null ? '' : ` as ${given.split(':')[0]}`}`);
    if (user !== null && given !== user) return void response.writeHead(401, { 'lfs-authenticate': 'Basic' }).end();
    const oid = /\/objects\/([0-9a-f]{64})$/.exec(request.url ?? '')?.[1];
    const content = oid === undefined ? undefined : objects.get(oid);
    if (request.method === 'POST' && request.url?.endsWith('/info/lfs/objects/batch') === true)
      return void batch(request, response, `https://${request.headers.host ?? host}`);
    if (request.method === 'GET' && content !== undefined && request.headers['x-action'] === 'download')
      return download(response, content);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    add: (content) => {
      const oid = createHash('sha256').update(content).digest('hex');
      objects.set(oid, Buffer.from(content));
      return { oid, pointer: `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n` };
    },
    asked,
    behave: (next, at = '') => {
      fault = next;
      location = at;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
