// A host that commands can be run on: connections are made when they are needed and made again when they were lost.
import type { Spawner } from '../../kernel/spawner.ts';
import { randomHex, systemRandom } from '../../kernel/random.ts';
import { runInPlace } from '../remote/command.ts';
import type { PlaceAnswer } from '../remote/command.ts';
import type { ForwardedSocket, PlaceCommand, PlaceProcess } from '../remote/place.ts';
import { clientEnvironment } from './client-line.ts';
import type { Destination } from './client-line.ts';
import { connect } from './connection.ts';
import { createConnections } from './connections.ts';
import type { HostFacts } from './facts.ts';
import { HOST_COMMAND_MS, IDLE_MS } from './limits.ts';
import { openSockets } from './sockets.ts';

/** What hosts are reached with. */
export type HostParts = {
  readonly spawner: Spawner;
  /** Where `ssh` is; throws when there is none. */
  readonly program: () => string;
  /** Control sockets lie here; this node's alone. */
  readonly socketDirectory: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly sessionsEach: number;
};

/** A host. */
export type Host = {
  readonly name: string;
  /** Connects when there is no connection. Rejects as `connect` does. */
  facts(): Promise<HostFacts>;
  exec(command: PlaceCommand): Promise<PlaceProcess>;
  /** Runs a text of sh with parameters, to its end. */
  script(
    text: string,
    parameters: readonly string[],
    options?: { readonly stdin?: Uint8Array; readonly timeoutMs?: number },
  ): Promise<PlaceAnswer>;
  /** Forwards a socket of the host; see `Connections`. */
  forward(inside: string, target: string): Promise<ForwardedSocket | null>;
  /** Drops all connections. */
  close(): void;
};

/** What commands find there, whatever the start-up files of the login say. */
export const variablesOf = ({ path, shell, language, user }: HostFacts): Record<string, string> => ({
  PATH: path,
  SHELL: shell,
  LANG: language,
  USER: user,
  LOGNAME: user,
});

/** A host by its destination. Nothing is started yet. */
export const createHost = (destination: Destination, parts: HostParts): Host => {
  const { spawner, program, socketDirectory, variables, sessionsEach } = parts;
  const environment = clientEnvironment(variables);
  const newMark = (): string => randomHex(systemRandom, 16);
  const connections = createConnections({
    sessionsEach,
    idleMs: IDLE_MS,
    open: async () => {
      const sockets = openSockets(socketDirectory, systemRandom);
      const socket = sockets.next();
      const startClient = (args: readonly string[]) =>
        spawner.start({ program: program(), args, cwd: sockets.directory, environment, input: true, stderr: true });
      const connection = await connect({ destination, startClient, newMark }, socket);
      void connection.over.then(() => sockets.remove(socket));
      return connection;
    },
  });
  const exec = async ({ argv, stdin, timeoutMs }: PlaceCommand): Promise<PlaceProcess> => {
    const facts = await connections.facts();
    const opening = { argv, variables: { ...variablesOf(facts), HOME: facts.home } };
    return connections.session({ opening, stdin, timeoutMs });
  };
  return {
    name: destination.host,
    facts: () => connections.facts(),
    exec,
    script: (text, parameters, { stdin, timeoutMs = HOST_COMMAND_MS } = {}) =>
      runInPlace({ exec }, ['sh', '-c', text, 'sh', ...parameters], { timeoutMs, ...(stdin === undefined ? {} : { stdin }) }),
    forward: connections.forward,
    close: () => connections.close(),
  };
};
