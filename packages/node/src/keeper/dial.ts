import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CONNECT_MS } from './limits.ts';
import { attachByProgram } from './spawn-keeper.ts';
import type { KeeperProgram } from './spawn-keeper.ts';

/** Bytes of a socket path that fit everywhere (macOS has 104, Linux 108, one for the end). */
const SOCKET_PATH_BYTES = 103;

const connected = async (path: string): Promise<Duplex> => {
  const socket = createConnection({ path, allowHalfOpen: true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('connect', resolve).once('error', reject);
  const timer = setTimeout(() => socket.destroy(new Error(`no connection in ${CONNECT_MS} ms`)), CONNECT_MS);
  try {
    await promise;
    return socket;
  } finally {
    clearTimeout(timer);
    socket.removeListener('error', reject);
  }
};

const viaDescriptor = async (dir: string): Promise<Duplex> => {
  const directory = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await connected(`/proc/self/fd/${directory.fd}/sock`);
  } finally {
    await directory.close();
  }
};

/** Connects to `dir/sock` whatever the length of its path: through an open descriptor, else by path, else by the program. */
export const dialKeeper = async (program: () => KeeperProgram, dir: string): Promise<Duplex> => {
  const path = join(dir, 'sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return connected(path);
  const hasDescriptors = await access('/proc/self/fd').then(
    () => true,
    () => false,
  );
  return hasDescriptors ? viaDescriptor(dir) : attachByProgram(program(), dir);
};
