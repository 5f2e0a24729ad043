// A Unix socket file that is ours alone: 0600 from the first moment, never taken from someone who listens.

import { chmodSync, lstatSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { OrreryError } from '@orrery/protocol/errors';

/** Bytes a socket path may have on Linux (`sun_path` without its end). */
const MAX_PATH_BYTES = 107;

/**
 * Makes `server` listen at `path`; answers how to take the file away again. A file left by a dead node is replaced.
 * @throws OrreryError node_already_running when someone listens there, config_invalid when the path is too long
 */
export const listenAt = async (server: Server, path: string): Promise<() => void> => {
  const making = `${path}.new`;
  if (Buffer.byteLength(making) > MAX_PATH_BYTES) {
    throw new OrreryError('config_invalid', `The path of the broker's socket is too long: ${path}`, {
      rule: `A socket path may have ${MAX_PATH_BYTES - '.new'.length} bytes.`,
      fix: 'Choose a shorter data directory, for example ORRERY_DATA=~/.orrery.',
    });
  }
  if (await someoneListens(path)) {
    throw new OrreryError('node_already_running', `Another node listens at ${path}.`, {
      rule: 'One node per data directory.',
      fix: 'orrery status',
    });
  }
  unlinkSocket(making);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(making, () => {
      server.off('error', reject);
      resolve();
    });
  });
  chmodSync(making, 0o600);
  const { ino } = statSync(making);
  renameSync(making, path);
  return () => {
    if (inodeOf(path) === ino) unlinkSync(path);
  };
};

const someoneListens = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });

const inodeOf = (path: string): number | null => lstatSync(path, { throwIfNoEntry: false })?.ino ?? null;

const unlinkSocket = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path);
};
