// The command lines of `ssh`, and nothing else: pure. The user's own configuration says who and where; what must hold in
// any case is said here, and wins, because the first value that ssh sees is the one it takes.
import { ENTRY } from './entry.ts';

/** How the host is reached. */
export type Destination = {
  /** An alias of the user's configuration, or a name. */
  readonly host: string;
  /** The configuration to use in place of the user's own. */
  readonly config: string | null;
  /** A key file to use beside those the configuration names. */
  readonly identity: string | null;
  readonly connectSeconds: number;
  readonly aliveSeconds: number;
  readonly aliveCount: number;
};

const FORCED: readonly string[] = [
  // Nobody is asked anything: no password, no passphrase, no unknown key.
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  // The user's files are the user's.
  'UpdateHostKeys=no',
  // Nothing of this machine goes along.
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'Tunnel=no',
  'PermitLocalCommand=no',
  // What the configuration has for people at terminals.
  'RemoteCommand=none',
  'RequestTTY=no',
  'EscapeChar=none',
  'LogLevel=ERROR',
  'ControlPersist=no',
  'TCPKeepAlive=yes',
];

const common = (destination: Destination, own: readonly string[]): string[] => {
  const { config, identity, connectSeconds, aliveSeconds, aliveCount } = destination;
  const alive = [`ServerAliveInterval=${aliveSeconds}`, `ServerAliveCountMax=${aliveCount}`];
  const options = [...own, ...FORCED, `ConnectTimeout=${connectSeconds}`, ...alive];
  return [
    ...(config === null ? [] : ['-F', config]),
    ...(identity === null ? [] : ['-i', identity]),
    ...options.flatMap((option) => ['-o', option]),
  ];
};

/** A connection that others go through by `socket`, a path without room for much: sockets have short names. */
export const masterLine = (destination: Destination, socket: string): string[] => [
  ...common(destination, ['ControlMaster=yes', `ControlPath=${socket}`]),
  '-T',
  '--',
  destination.host,
  ENTRY,
];

/** A session through the connection of `socket`. */
export const sessionLine = (destination: Destination, socket: string): string[] => [
  ...common(destination, ['ControlMaster=no', `ControlPath=${socket}`]),
  '-T',
  '--',
  destination.host,
  ENTRY,
];

/**
 * Asks the connection of `socket`, and nobody else, to begin or end forwarding the host's socket `inside` to `target`. What
 * is said of forwarding in a configuration has no part in it.
 */
export const forwardLine = (
  { host }: Destination,
  socket: string,
  { verb, inside, target }: { readonly verb: 'forward' | 'cancel'; readonly inside: string; readonly target: string },
): string[] => [
  '-F',
  'none',
  ...['BatchMode=yes', 'LogLevel=ERROR', `ControlPath=${socket}`].flatMap((option) => ['-o', option]),
  '-O',
  verb,
  '-R',
  `${inside}:${target}`,
  '--',
  host,
];

/** Says everything about a connection of its own: for the key of a host that is not known. */
export const verboseLine = (destination: Destination): string[] => [
  ...common(destination, ['ControlMaster=no', 'ControlPath=none', 'LogLevel=DEBUG1']),
  '-T',
  '--',
  destination.host,
  ENTRY,
];

/** The words for a person's own terminal: `ssh`, the configuration and the key, `options`, the host. */
export const personLine = (destination: Destination, options: readonly string[]): string =>
  [
    'ssh',
    ...(destination.config === null ? [] : ['-F', destination.config]),
    ...(destination.identity === null ? [] : ['-i', destination.identity]),
    ...options,
    destination.host,
  ].join(' ');

/** Variables that the client itself needs; nothing else of the node's environment is there for it to send. */
const CLIENT_VARIABLES = ['HOME', 'PATH', 'USER', 'LOGNAME', 'SSH_AUTH_SOCK', 'KRB5CCNAME', 'XDG_RUNTIME_DIR'];

/** The environment of the client. */
export const clientEnvironment = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    CLIENT_VARIABLES.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
