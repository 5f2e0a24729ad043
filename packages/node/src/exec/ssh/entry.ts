// How a command reaches the host whatever the login shell of the user is, and whatever its start-up files print.
//
// What sshd hands to the login shell is one constant text, of characters that mean the same to sh, csh, fish and their
// kin. It starts a plain `sh`, which reads the command itself, as one line, from stdin. So the command passes no parser but
// the one it is quoted for, it is in no process' arguments, and it has no limit but memory. Before it runs, that `sh`
// prints a word chosen for this command: what came earlier was printed by start-up files and is dropped.
import { OrreryError } from '@orrery/protocol/errors';

/** The text for the login shell. */
export const ENTRY = `exec /bin/sh -c 'IFS= read -r line && eval "$line"'`;

/** Where the programs of every system are. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

/** Quotes a word for sh, on one line: a line break inside is the variable `n`. */
const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`).replaceAll('\n', `'"$n"'`)}'`;

/** What a command is started with on the host. */
export type Opening = {
  /** The first is an absolute path or a name that `variables.PATH` finds. */
  readonly argv: readonly string[];
  /** All of its environment; null for that of the login. */
  readonly variables: Readonly<Record<string, string>> | null;
  /** A word of letters and digits that nothing else prints. */
  readonly mark: string;
};

const refuseNul = (words: readonly string[]): void => {
  if (!words.some((word) => word.includes('\0'))) return;
  throw new OrreryError('invalid_input', 'A command for the host has a NUL byte in it.', {
    rule: 'Arguments are text without NUL bytes.',
  });
};

/**
 * The line that runs `argv` in `/` with the umask 077. The shell stays beside it, so that an end by a signal is told (128 and
 * its number); 255 is said as 254, because the client says 255 when it lost the connection.
 */
export const openingLine = ({ argv, variables, mark }: Opening): string => {
  const settings = Object.entries(variables ?? {}).map(([name, value]) => `${name}=${value}`);
  refuseNul([...settings, ...argv]);
  const words = [...(variables === null ? [] : ['env', '-i', ...settings]), ...argv].map(quote).join(' ');
  const path = quote(variables?.['PATH'] ?? SYSTEM_PATH);
  return `n=$(printf '\\n_'); n=\${n%_}; PATH=${path}; export PATH; umask 077; cd /; printf '\\n%s\\n' ${mark}; ${words}; s=$?; [ $s != 255 ] || s=254; exit $s\n`;
};

/** Takes what a session prints and answers what belongs to the command. */
export type Greeter = {
  /** Null while the mark did not come. Throws `backend_unavailable` when too much came before it. */
  push(bytes: Buffer): Buffer | null;
  /** What came before the mark, for explanations. */
  said(): string;
};

/** Drops everything up to the mark. */
export const createGreeter = (mark: string, limit: number): Greeter => {
  const line = Buffer.from(`\n${mark}\n`);
  let before = Buffer.alloc(0);
  let open = false;
  return {
    push: (bytes) => {
      if (open) return bytes;
      before = Buffer.concat([before, bytes]);
      const at = before.indexOf(line);
      if (at === -1) {
        if (before.length <= limit + line.length) return null;
        throw new OrreryError('backend_unavailable', `The start-up files of the login shell printed more than ${limit} bytes.`, {
          rule: 'What they print is skipped, up to a limit.',
          fix: 'Let them print nothing when nobody is at a terminal.',
        });
      }
      open = true;
      const rest = before.subarray(at + line.length);
      before = before.subarray(0, at);
      return rest;
    },
    said: () => before.toString('utf8').trim().slice(-500),
  };
};
