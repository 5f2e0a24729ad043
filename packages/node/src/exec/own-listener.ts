// A port of this machine's own network, reached only when the process behind it is one of ours.
import { readFile, readdir, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { OrreryError } from '@orrery/protocol/errors';
import { CONNECT_PORT_MS } from './limits.ts';

/** A socket that listens: on which address, and the inode that its owner holds it by. */
export type Listener = { readonly address: string; readonly port: number; readonly inode: string };

const LISTEN = '0A';
/** The addresses of a listener that a connection to loopback can end at, as the kernel's table writes them. */
const ADDRESSES: Readonly<Record<string, string>> = {
  '0100007F': '127.0.0.1',
  '00000000': '0.0.0.0',
  '00000000000000000000000000000000': '::',
  '00000000000000000000000001000000': '::1',
  '0000000000000000FFFF00000100007F': '127.0.0.1',
};

/** The listeners of `/proc/net/tcp` or `tcp6` that loopback leads to. */
export const parseListeners = (table: string): Listener[] =>
  table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [hex = '', port = ''] = local.split(':');
    const address = ADDRESSES[hex];
    return state === LISTEN && address !== undefined ? [{ address, port: Number.parseInt(port, 16), inode }] : [];
  });

const listenersOn = async (port: number): Promise<Listener[]> => {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => ''));
  return (await Promise.all(tables)).flatMap(parseListeners).filter((listener) => listener.port === port);
};

const socketsOf = async (pid: number): Promise<string[]> => {
  const names = await readdir(`/proc/${pid}/fd`).catch((): string[] => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
};

const dial = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.setTimeout(CONNECT_PORT_MS, () => socket.destroy(new Error('no answer in time')));
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', reject);
      resolve(socket);
    });
  });

/** A listener on `::` may take IPv4 or not: it is tried. */
const dialLoopback = (listeners: readonly Listener[], port: number): Promise<Socket> => {
  const hosts = [
    ...(listeners.some(({ address }) => address !== '::1') ? ['127.0.0.1'] : []),
    ...(listeners.some(({ address }) => address.includes(':')) ? ['::1'] : []),
  ];
  return hosts.slice(1).reduce((last, host) => last.catch(() => dial(host, port)), dial(hosts[0] ?? '127.0.0.1', port));
};

/** Nothing of the environment listens there. */
export const nobodyListens = (environmentId: string, port: number): OrreryError =>
  new OrreryError('not_found', `No program of the environment ${environmentId} listens on port ${port}.`, {
    rule: 'A port leads to programs of its own environment and to nobody else.',
    fix: `Start the program there, listening on 127.0.0.1:${port}, then repeat the command.`,
    details: { port },
  });

/**
 * Connects to the program among `pids` that listens on `port` of loopback. Where anybody else could take the connection,
 * before or after it was made, nobody gets it. @throws OrreryError not_found
 */
export const connectToOwnListener = async (given: {
  readonly environmentId: string;
  readonly port: number;
  /** The programs of the environment, asked each time. */
  readonly pids: () => Promise<readonly number[]>;
}): Promise<Socket> => {
  const { environmentId, port } = given;
  const owned = async (): Promise<Listener[]> => {
    const listeners = await listenersOn(port);
    if (listeners.length === 0) throw nobodyListens(environmentId, port);
    const ours = new Set((await Promise.all((await given.pids()).map(socketsOf))).flat());
    if (listeners.every(({ inode }) => ours.has(inode))) return listeners;
    throw nobodyListens(environmentId, port);
  };
  const before = await owned();
  const socket = await dialLoopback(before, port).catch((thrown: unknown) => {
    throw new OrreryError('not_found', `Port ${port} of the environment ${environmentId} takes no connection.`, {
      details: { port },
      cause: thrown,
    });
  });
  try {
    // The same sockets listened all the while, so one of them has the connection.
    const after = (await owned()).map(({ inode }) => inode);
    if (!before.every(({ inode }) => after.includes(inode))) throw nobodyListens(environmentId, port);
    return socket;
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
};
