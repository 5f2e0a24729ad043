// The broker's way in by the connection itself: sshd listens on a socket of the host and hands each connection to the
// client, which connects to the node's own socket. No program of ours has a part in it.
//
// A server makes such a socket under a name of less than 108 bytes, never takes one away, and refuses a name that is there.
// So each has a name of its own in a folder near the home directory, and where it is looked for is a link to it.
import { randomHex, systemRandom } from '../../kernel/random.ts';
import { mustRun } from '../remote/command.ts';
import type { ForwardedSocket } from '../remote/place.ts';
import type { Host } from './host.ts';
import { socketsOf } from './layout.ts';

/** What the client reads as it is: everything else has a meaning for it somewhere. */
const PLAIN = /^\/[A-Za-z0-9_./@+=,-]{1,99}$/;

// $1: the folder of sockets, $2: where one is looked for. What an earlier connection left there goes.
const CLEAR = `
umask 077
mkdir -p -- "$1" && chmod 700 -- "$1" || exit 1
old=$(readlink -- "$2" 2>/dev/null)
case $old in "$1"/*) rm -f -- "$old" "$2" ;; esac
exit 0
`;

// $1: the socket, $2: where it is looked for. Nobody finds half a link.
const PUBLISH = `
umask 077
rm -f -- "$2.new"
ln -s -- "$1" "$2.new" && mv -f -- "$2.new" "$2"
`;

/** Takes the socket that is looked for at `inside` away, where an earlier connection left one. Answers the folder of sockets. */
export const clearSocket = async (host: Host, inside: string): Promise<string> => {
  const folder = socketsOf((await host.facts()).home);
  await mustRun(host, ['sh', '-c', CLEAR, 'sh', folder, inside], { what: 'Making room for a socket' });
  return folder;
};

/**
 * Makes `target`, a socket of this machine, reachable at `inside` on the host for as long as the connection lives. Null
 * where the server forwards no sockets, or where a path is none that can be forwarded.
 */
export const forwardSocket = async (host: Host, inside: string, target: string): Promise<ForwardedSocket | null> => {
  const socket = `${await clearSocket(host, inside)}/${randomHex(systemRandom, 6)}`;
  if (!PLAIN.test(socket) || !PLAIN.test(target)) return null;
  const forwarded = await host.forward(socket, target);
  if (forwarded === null) return null;
  try {
    await mustRun(host, ['sh', '-c', PUBLISH, 'sh', socket, inside], { what: 'Naming a socket' });
  } catch (thrown) {
    forwarded.close();
    throw thrown;
  }
  return forwarded;
};
