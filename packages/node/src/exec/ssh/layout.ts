// What lies where on a host, and the texts of sh that look after it. Paths are parameters, never part of a text.
import { OrreryError } from '@orrery/protocol/errors';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const checkName = (what: string, name: string): string => {
  if (NAME.test(name)) return name;
  throw new OrreryError('invalid_input', `"${name.slice(0, 40)}" cannot be the ${what} of a folder on a host.`, {
    rule: 'Letters, digits, dots, underscores and hyphens.',
  });
};

/** All environments of all installations of a user. */
export const environmentsOf = (home: string): string => `${home}/.local/share/orrery/env`;

/** All environments of one installation. */
export const installationOf = (home: string, installation: string): string =>
  `${environmentsOf(home)}/${checkName('installation', installation)}`;

/** One environment. */
export const rootOf = (home: string, installation: string, id: string): string =>
  `${installationOf(home, installation)}/${checkName('environment', id)}`;

/** The environment that a folder's name means, or null for names that are none of ours. */
export const environmentIn = (name: string): string | null => (NAME.test(name) ? name : null);

/** The keeper program of an environment: it stays the one its programs were started with, whatever becomes of the cache. */
export const keeperOf = (root: string): string => `${root}/keeper/orrery-keeper`;

/** $1: the root, made with everything above it, for nobody else. */
export const MAKE = `
umask 077
mkdir -p -- "$1" && chmod 700 -- "$1"
`;

/** $1: the keeper program in the cache, $2: what it is called in an environment that is there. */
export const LINK = `
umask 077
mkdir -p -- "\${2%/*}" || exit 1
[ -x "$2" ] || ln -- "$1" "$2" 2>/dev/null || { cp -- "$1" "$2.new" && mv -f -- "$2.new" "$2"; }
`;

/** $1: the root, $2: the home directory. Says \`there\`, \`gone\`, or \`unknown\` when the home directory is not what it was. */
export const LOOK = `
if [ -d "$1" ]; then echo there
elif [ -d "$2" ] && [ -r "$2" ] && [ -x "$2" ]; then echo gone
else echo unknown; fi
`;

/** $1: the folder of an installation. One name a line. */
export const LIST = `
[ -d "$1" ] || exit 0
ls -1 -- "$1"
`;

/**
 * $1: the root, $2: a keeper program, $3: the folder of all installations, $4: that of forwarded sockets. Ends what runs in
 * the environment, removes it with its socket, and the folders above it that are empty then. Agents may leave folders that their own user cannot write to.
 */
export const REMOVE = `
if [ -d "$1/runs" ]; then "$2" sweep "$1/runs" >/dev/null || exit 5; fi
socket=$(readlink -- "$1/broker.sock" 2>/dev/null)
case $socket in "$4"/*) rm -f -- "$socket" ;; esac
if [ -e "$1" ]; then
  rm -rf -- "$1" 2>/dev/null || { chmod -R u+rwX -- "$1" 2>/dev/null; rm -rf -- "$1" || exit 6; }
fi
rmdir -- "\${1%/*}" "$3" "\${3%/*}" 2>/dev/null
exit 0
`;

/** The cache of a user. */
export const cacheOf = (home: string): string => `${home}/.cache/orrery`;

/** Agent programs that environments share. */
export const programsOf = (home: string): string => `${cacheOf(home)}/programs`;

/** The sockets that connections forward: short names, for a socket's has to be. */
export const socketsOf = (home: string): string => `${cacheOf(home)}/s`;

/** $1: the folder of all installations, $2: the cache. Removes the keeper programs when no environment is left that could use one. */
export const FORGET = `
[ ! -d "$1" ] || [ -z "$(ls -A -- "$1")" ] || exit 0
rm -rf -- "$2"
`;
