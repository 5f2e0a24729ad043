// The directory of the control sockets. The client runs in it, so that a socket's path is its short name, however deep
// the data directory lies.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';

/** Names of sockets of this process, and the end of those that an earlier one left behind. */
export type Sockets = {
  readonly directory: string;
  /** A name that no other has, relative to `directory`. */
  next(): string;
  /** Takes one away whose client may have had no time to. */
  remove(socket: string): void;
};

/** Makes the directory (0700). It belongs to one node: sockets of other processes in it are left-overs. */
export const openSockets = (directory: string, random: Random, pid: number = process.pid): Sockets => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const own = `${pid}-`;
  for (const name of readdirSync(directory)) if (!name.startsWith(own)) rmSync(join(directory, name), { force: true });
  return {
    directory,
    next: () => `./${own}${randomHex(random, 6)}`,
    remove: (socket) => rmSync(join(directory, socket), { force: true }),
  };
};
