// A small internet on loopback for real web clients: one TLS server that is a web page, a Git host, an npm registry and a
// Python index, by the name it is called by, and the front of an environment that leads to the broker.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { proxyEnvironment } from '../src/exec/proxy-environment.ts';

const certificate = (name: string): string => join(import.meta.dirname, 'tls', name);

/** How a client ended. */
export type Ran = { readonly code: number; readonly out: string };

export type EgressWorld = {
  /** Of the TLS server, which every name ends at. */
  readonly port: number;
  readonly directory: string;
  /** Runs a program with nothing but the variables of an environment with that token, and the test authority. */
  run(token: string, command: string, args: readonly string[]): Promise<Ran>;
  close(): Promise<void>;
};

const execute = (command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(command, [...args], { ...options, timeout: 120_000 }, (fault, stdout, stderr) => {
      const code = fault === null ? 0 : typeof fault.code === 'number' ? fault.code : -1;
      resolve({ code, out: `${stdout}${stderr}${code === -1 ? (fault?.message ?? '') : ''}` });
    });
  });

const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

/** What npm installs: a package of one file. */
const npmPackage = async (directory: string): Promise<Buffer> => {
  await mkdir(join(directory, 'package'));
  await writeFile(join(directory, 'package', 'package.json'), JSON.stringify({ name: 'thing', version: '1.2.3' }));
  await execute('tar', ['-czf', 'thing.tgz', 'package'], { cwd: directory, env: { PATH: process.env['PATH'] } });
  return readFile(join(directory, 'thing.tgz'));
};

/** What pip installs: a wheel of one module, made by the Python that will install it. */
const wheelScript = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('thing.py', 'word = 1')
    wheel.writestr('thing-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n')
    wheel.writestr('thing-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('thing-1.0.dist-info/RECORD', '')
`;
const WHEEL = 'thing-1.0-py3-none-any.whl';

/** A repository with one commit, as plain files that Git can clone. */
const gitFiles = async (directory: string): Promise<void> => {
  const env = { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execute('git', args, { cwd: directory, env });
  await git('init', '-q', 'source');
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  await git('-C', 'source', ...identity, 'commit', '-q', '--allow-empty', '-m', 'cloned through the proxy');
  await git('clone', '-q', '--bare', 'source', 'repository.git');
  await git('-C', 'repository.git', 'update-server-info');
};

type Site = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const sitesIn = (directory: string, tarball: Buffer): Readonly<Record<string, Site>> => ({
  web: (request, response) => void response.end(`the web has ${request.url ?? ''}\n`),
  git: async (request, response) => {
    const path = new URL(request.url ?? '/', 'https://git').pathname;
    const bytes = await readFile(join(directory, path)).catch(() => null);
    response.writeHead(bytes === null ? 404 : 200).end(bytes ?? '');
  },
  npm: (request, response) => {
    if (request.url?.endsWith('.tgz') === true) return void response.end(tarball);
    const dist = { tarball: `https://${request.headers.host ?? ''}/thing.tgz` };
    const versions = { '1.2.3': { name: 'thing', version: '1.2.3', dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: 'thing', 'dist-tags': { latest: '1.2.3' }, versions }));
  },
  pip: async (request, response) => {
    if (request.url?.endsWith('.whl') === true) return void response.end(await readFile(join(directory, WHEEL)));
    response.setHeader('content-type', 'text/html').end(`<a href="/${WHEEL}">${WHEEL}</a>`);
  },
});

/** Opens it. `socketPath` is the broker's; `python` makes the wheel (null: there is none to install). */
export const openEgressWorld = async (socketPath: string, python: string | null): Promise<EgressWorld> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-egress-'));
  await gitFiles(directory);
  const sites = sitesIn(directory, await npmPackage(directory));
  if (python !== null) await execute(python, ['-c', wheelScript, WHEEL], { cwd: directory, env: { PATH: process.env['PATH'] } });
  const [key, cert] = await Promise.all(['server.key', 'server.pem'].map((name) => readFile(certificate(name))));
  const web = createHttps({ key, cert }, (request, response) => {
    const site = sites[(request.headers.host ?? '').split('.')[0] ?? ''];
    void (site === undefined ? response.writeHead(404).end() : site(request, response));
  });
  const front = createServer((client) => {
    const broker = connect(socketPath);
    for (const [from, to] of [
      [client, broker],
      [broker, client],
    ] as const)
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to);
  });
  const sockets = new Set<Socket>();
  for (const server of [web, front]) server.on('connection', (socket: Socket) => void sockets.add(socket));
  const [port, frontPort] = [await listening(web), await listening(front)];
  const variables = (token: string): Record<string, string> => ({
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
    HOME: directory,
    LANG: 'C.UTF-8',
    ...proxyEnvironment(`http://127.0.0.1:${frontPort}`, token),
    ...Object.fromEntries(
      ['CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'npm_config_cafile', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS'].map((name) => [
        name,
        certificate('ca.pem'),
      ]),
    ),
    GIT_TERMINAL_PROMPT: '0',
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '0',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  });
  return {
    port,
    directory,
    run: (token, command, args) => execute(command, args, { cwd: directory, env: variables(token) }),
    async close() {
      for (const server of [web, front]) server.close();
      for (const socket of sockets) socket.destroy();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
