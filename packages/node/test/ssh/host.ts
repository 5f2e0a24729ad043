// A host to log in to: a real `sshd` in its own pid and mount namespaces, so that its processes, its home directories and
// its boot are its own, and all of it ends with the test. Needs root.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWire } from './wire.ts';
import type { Wire } from './wire.ts';

/** Someone who can log in, with a home directory of their own. Exists in the host's own password file alone. */
export type Account = { readonly name: string; readonly uid: number; readonly shell: string };

/** A host that runs. */
export type SshHost = {
  readonly directory: string;
  /** The user's OpenSSH configuration: an alias for each account, over the line that can be cut. */
  readonly config: string;
  readonly knownHosts: string;
  readonly wire: Wire;
  /** The home directory of an account, as it is seen from here. */
  home(account: string): string;
  /** Ends everything that runs there; the files stay. */
  stop(): Promise<void>;
  /** Starts it again, under another boot id. */
  start(): Promise<void>;
  /** Gives it another key, as a host does that was set up anew. */
  changeKey(): Promise<void>;
  /** The command lines of everything that runs there. */
  processes(): readonly string[];
  /** The values of all variables and arguments of everything that runs there. */
  said(): string;
  close(): Promise<void>;
};

/** Why there can be none here, or null. */
export const noSshHost = (): string | null => {
  if (process.platform !== 'linux') return 'no Linux';
  if (process.getuid?.() !== 0) return 'not root: a host of its own cannot be made';
  if (!existsSync('/usr/sbin/sshd')) return 'no /usr/sbin/sshd (Debian: apt-get install openssh-server)';
  return null;
};

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

// Everything a host needs that this machine must not see; $1 is the host's directory. The last line becomes the server.
const BOOT = `
set -e
mount --make-rprivate /
mount -t proc proc /proc
# Another boot than this machine's is said only after a restart: with anything mounted in it, users get no /proc of their own.
[ ! -e "$1/boot_id" ] || mount --bind "$1/boot_id" ${BOOT_ID}
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/home/root" /root
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e -f "$1/sshd_config"
`;

const serverConfig = (directory: string, port: number, extra: string): string => `Port ${port}
ListenAddress 127.0.0.1
HostKey ${directory}/host_key
AuthorizedKeysFile ${directory}/authorized_keys
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
AcceptEnv *
UseDNS no
PrintMotd no
${extra}
`;

const clientConfig = (directory: string, wire: Wire, names: readonly string[]): string =>
  names
    .map(
      (name) => `Host box-${name}
  HostName 127.0.0.1
  Port ${wire.port}
  User ${name}
  HostKeyAlias box
  IdentityFile ${directory}/key
  IdentitiesOnly yes
  UserKnownHostsFile ${directory}/known_hosts
  GlobalKnownHostsFile none
  SendEnv *
`,
    )
    .join('\n');

const makeKey = (path: string): void => {
  rmSync(path, { force: true });
  rmSync(`${path}.pub`, { force: true });
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', path]);
  if (made.status !== 0) throw new Error(`ssh-keygen: ${made.stderr.toString()}`);
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
};

type Running = { readonly guard: ChildProcess; readonly port: number };

/** The guard ends the namespace, and with it everything inside, when this process ends in any way: its stdin does. */
const GUARD = 'unshare --mount --pid --fork --kill-child sh -c "$1" boot "$2" </dev/null & cat >/dev/null; kill -9 $!; wait';

const boot = async (directory: string, port: number): Promise<Running | null> => {
  const guard = spawn('sh', ['-c', GUARD, 'guard', BOOT, directory], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  const { promise: listening, resolve } = Promise.withResolvers<boolean>();
  let said = '';
  guard.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString();
    if (/Server listening/.test(said)) resolve(true);
    if (/Address already in use/.test(said)) resolve(false);
  });
  guard.on('close', () => resolve(false));
  const timer = setTimeout(() => resolve(false), 60_000);
  const up = await listening;
  clearTimeout(timer);
  if (up) return { guard, port };
  await end(guard);
  if (/Address already in use/.test(said)) return null;
  throw new Error(`the host did not start: ${said}`);
};

const end = async (guard: ChildProcess): Promise<void> => {
  const closed = new Promise((resolve) => {
    if (guard.exitCode !== null) resolve(null);
    else guard.on('close', resolve);
  });
  guard.stdin?.end();
  await closed;
};

const startOnFreePort = async (directory: string, extra: string): Promise<Running> => {
  for (let tries = 0; tries < 10; tries += 1) {
    const port = await freePort();
    writeFileSync(join(directory, 'sshd_config'), serverConfig(directory, port, extra));
    const running = await boot(directory, port);
    if (running !== null) return running;
  }
  throw new Error('no free port was found for sshd');
};

const makeHomes = (directory: string, accounts: readonly Account[]): void => {
  const lines = accounts.map(({ name, uid, shell }) => `${name}:x:${uid}:${uid}::${join(directory, 'home', name)}:${shell}`);
  const machine = readFileSync('/etc/passwd', 'utf8').replace(/^root:.*$/m, 'root:x:0:0:root:/root:/bin/bash');
  writeFileSync(join(directory, 'passwd'), `${machine.trimEnd()}\n${lines.join('\n')}\n`);
  mkdirSync(join(directory, 'home'), { mode: 0o755 });
  for (const { name, uid } of [{ name: 'root', uid: 0 }, ...accounts]) {
    mkdirSync(join(directory, 'home', name), { recursive: true, mode: 0o700 });
    chownSync(join(directory, 'home', name), uid, uid);
  }
};

const trust = (directory: string): void => {
  const [type, key] = readFileSync(join(directory, 'host_key.pub'), 'utf8').split(' ');
  writeFileSync(join(directory, 'known_hosts'), `box ${type} ${key}\n`);
};

/** Pids of the host's namespace, as this machine numbers them. */
const pidsOf = (guard: ChildProcess): number[] => {
  const children = (pid: number): number[] => {
    try {
      const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
      return own.flatMap((child) => [child, ...children(child)]);
    } catch {
      return [];
    }
  };
  return children(guard.pid!);
};

const readProc = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
};

/** Links to programs that are chosen by their name, such as busybox' ash. */
export const linkShell = (directory: string, name: string, program: string): string => {
  const path = join(directory, name);
  symlinkSync(program, path);
  return path;
};

/** What a host is made with. */
export type SshHostOptions = {
  /** Who can log in beside root; `directory` is the host's, for shells that are links. */
  readonly accounts?: (directory: string) => readonly Account[];
  /** Lines for its sshd_config. */
  readonly extra?: string;
};

/** Starts a host. */
export const startSshHost = async ({ accounts = () => [], extra = '' }: SshHostOptions = {}): Promise<SshHost> => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-ssh-'));
  chmodSync(directory, 0o755);
  const people = accounts(directory);
  makeHomes(directory, people);
  for (const name of ['host_key', 'key']) makeKey(join(directory, name));
  writeFileSync(join(directory, 'authorized_keys'), readFileSync(join(directory, 'key.pub')));
  trust(directory);
  let running: Running | null = await startOnFreePort(directory, extra);
  const wire = await openWire(() => running?.port ?? 1);
  writeFileSync(join(directory, 'config'), clientConfig(directory, wire, ['root', ...people.map(({ name }) => name)]));
  const stop = async (): Promise<void> => {
    const { guard } = running ?? {};
    running = null;
    if (guard !== undefined) await end(guard);
    wire.cut();
  };
  const start = async (): Promise<void> => {
    writeFileSync(join(directory, 'boot_id'), `${crypto.randomUUID()}\n`);
    running ??= await startOnFreePort(directory, extra);
  };
  const pids = (): number[] => (running === null ? [] : pidsOf(running.guard));
  return {
    directory,
    config: join(directory, 'config'),
    knownHosts: join(directory, 'known_hosts'),
    wire,
    home: (account) => join(directory, 'home', account),
    stop,
    start,
    changeKey: async () => {
      await stop();
      makeKey(join(directory, 'host_key'));
      await start();
    },
    processes: () => pids().map((pid) => readProc(pid, 'cmdline')),
    said: () =>
      pids()
        .map((pid) => `${readProc(pid, 'cmdline')} ${readProc(pid, 'environ')}`)
        .join('\n'),
    close: async () => {
      await stop();
      await wire.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
