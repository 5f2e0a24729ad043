// The stage of a self-test: things outside that a confined program must not reach, and somebody listening for it.
import { createSocket } from 'node:dgram';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { ListenOptions, Server } from 'node:net';
import { join } from 'node:path';
import type { EnvironmentSpec } from './backend.ts';

/** What was set up below an empty directory. */
export type SelftestPlace = {
  readonly secret: string;
  readonly socket: string;
  readonly abstractName: string;
  readonly port: number;
  readonly environment: EnvironmentSpec;
  /** Connections and packets that arrived from somewhere. */
  heard(): number;
  close(): Promise<void>;
};

const SECRET = 'a secret that nobody inside may read';
const WALL_MS = 60_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;

const listening = async (server: Server, options: ListenOptions): Promise<Server> => {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject).listen(options, () => resolve(server));
  return promise;
};

/** An environment below `directory`, with nothing granted but its own places. */
export const selftestEnvironment = async (directory: string): Promise<EnvironmentSpec> => {
  const [workdir, home, scratchpad] = ['work', 'home', 'tmp'].map((name) => join(directory, name)) as [string, string, string];
  for (const path of [workdir, home, scratchpad, join(workdir, 'git/hooks')]) await mkdir(path, { recursive: true, mode: 0o700 });
  return {
    id: 'selftest',
    taskId: 'selftest',
    workdir,
    home,
    scratchpad,
    grants: [],
    readOnly: [join(workdir, 'git/hooks')],
    ports: { connect: [], bind: [], egress: [] },
    limits: { wallMs: WALL_MS, outputBytes: OUTPUT_BYTES },
    required: [],
    brokerSocket: join(directory, 'broker.sock'),
    project: null,
    image: null,
  };
};

/** Sets the stage below `directory`, which the caller made, owns and removes. */
export const setSelftestPlace = async (directory: string): Promise<SelftestPlace> => {
  let heard = 0;
  const server = (): Server =>
    createServer((socket) => {
      heard += 1;
      socket.on('error', () => undefined).end();
    });
  const outside = join(directory, 'outside');
  await mkdir(outside, { mode: 0o755 });
  const secret = join(outside, 'secret');
  const socket = join(outside, 'service.sock');
  await writeFile(secret, SECRET, { mode: 0o644 });
  const tcp = await listening(server(), { port: 0, host: '127.0.0.1' });
  const address = tcp.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const others = await Promise.all([
    listening(server(), { path: socket }),
    // The same port for every protocol; a machine without IPv6 has nothing to reach there.
    listening(server(), { port, host: '::1', ipv6Only: true }).catch(() => null),
  ]);
  await chmod(socket, 0o777);
  const datagrams = createSocket('udp4').on('message', () => (heard += 1));
  await new Promise<void>((resolve, reject) => {
    datagrams.once('error', reject).bind(port, '127.0.0.1', resolve);
  });
  return {
    secret,
    socket,
    abstractName: `orrery-selftest-${process.pid}`,
    port,
    environment: await selftestEnvironment(directory),
    heard: () => heard,
    close: async () => {
      datagrams.close();
      for (const one of [tcp, ...others]) one?.close();
    },
  };
};
