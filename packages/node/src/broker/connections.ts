// Glossary. A connection is unproven until a request on it has shown a valid token; from then on it is its environment's.
// Nothing tells before whose it is, so that all unproven ones share one bound, and of too many the one that has waited
// longest goes: whoever has a token shows it at once. An idle connection has no request under way; programs open another
// when one of those was closed.

import type { Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { CLOSING_MS, ENVIRONMENT_CONNECTIONS, PROVEN_CONNECTIONS, REFUSAL_AUDIT_MS, UNPROVEN_CONNECTIONS } from './limits.ts';

/** The connections to the broker, and whose they are. */
export type Connections = {
  /** Takes in a connection that just came; when there are too many unproven ones, the oldest of them is refused and closed. */
  opened(socket: Socket): void;
  /** A request on it begins; call what it answers when the request is over. */
  began(socket: Socket): () => void;
  /**
   * A request on it has shown a token of the environment. Answers null, or why there is no room for it: then it is to be
   * refused and closed. Where room is needed, an idle connection is closed first: of the environment itself when it has
   * too many, else of the one that has most.
   */
  prove(socket: Socket, environmentId: string): string | null;
};

export type ConnectionParts = {
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Default: the named limits. */
  readonly most?: { readonly unproven: number; readonly proven: number; readonly perEnvironment: number };
};

type Connection = { readonly socket: Socket; owner: string | null; requests: number };

const namedLimits = { unproven: UNPROVEN_CONNECTIONS, proven: PROVEN_CONNECTIONS, perEnvironment: ENVIRONMENT_CONNECTIONS };

/** Makes the register. */
export const createConnections = ({ log, clock, most = namedLimits }: ConnectionParts): Connections => {
  const known = new Map<Socket, Connection>();
  // Sets keep their order: the first one came first.
  const unproven = new Set<Connection>();
  const owned = new Map<string, Set<Connection>>();
  let proven = 0;
  let toldAtMs = -Infinity;

  const tell = (what: string): void => {
    if (clock.nowMs() - toldAtMs < REFUSAL_AUDIT_MS) return;
    toldAtMs = clock.nowMs();
    log.warn('broker.connections.full', { what, unproven: unproven.size, proven });
  };

  /** Takes it out of whatever it is counted in. */
  const leave = (connection: Connection): void => {
    unproven.delete(connection);
    const mine = connection.owner === null ? undefined : owned.get(connection.owner);
    if (connection.owner === null || mine?.delete(connection) !== true) return;
    proven -= 1;
    if (mine.size === 0) owned.delete(connection.owner);
  };

  const closeIdle = (of: Iterable<Connection>): boolean => {
    for (const connection of of) {
      if (connection.requests > 0) continue;
      leave(connection);
      connection.socket.destroySoon();
      return true;
    }
    return false;
  };

  const makeRoom = (environmentId: string): string | null => {
    const mine = owned.get(environmentId) ?? [];
    if ([...mine].length >= most.perEnvironment && !closeIdle(mine))
      return `the environment has ${most.perEnvironment} connections in use; more wait until one is over`;
    if (proven < most.proven) return null;
    const bySize = [...owned.values()].toSorted((a, b) => b.size - a.size);
    if (bySize.some(closeIdle)) return null;
    tell('proven');
    return `the node has ${most.proven} connections in use; more wait until one is over`;
  };

  return {
    opened(socket) {
      const connection: Connection = { socket, owner: null, requests: 0 };
      known.set(socket, connection);
      socket.once('close', () => {
        known.delete(socket);
        leave(connection);
      });
      const [oldest] = unproven;
      if (oldest !== undefined && unproven.size >= most.unproven) {
        tell('unproven');
        leave(oldest);
        turnAway(oldest);
      }
      unproven.add(connection);
    },
    began(socket) {
      const connection = known.get(socket);
      if (connection !== undefined) connection.requests += 1;
      return () => {
        if (connection !== undefined) connection.requests -= 1;
      };
    },
    prove(socket, environmentId) {
      const connection = known.get(socket);
      // One that is closed already takes no room.
      if (connection === undefined || socket.destroyed || connection.owner === environmentId) return null;
      const full = makeRoom(environmentId);
      if (full !== null) return full;
      leave(connection);
      connection.owner = environmentId;
      owned.set(environmentId, (owned.get(environmentId) ?? new Set()).add(connection));
      proven += 1;
      return null;
    },
  };
};

const TURNED_AWAY = 'Orrery broker: too many connections wait without having shown a token. Connect again and ask at once.\n';

/** Says why and closes it, whether or not the other side reads that. */
const turnAway = ({ socket, requests }: Connection): void => {
  if (requests > 0 || socket.writableLength > 0) return void socket.destroy();
  socket.setTimeout(CLOSING_MS, () => socket.destroy());
  socket.write(closingAnswer(503, 'broker-busy', TURNED_AWAY));
  socket.destroySoon();
};

/** A whole answer, after which the connection is closed. */
export const closingAnswer = (status: number, phrase: string, text = ''): string =>
  [
    `HTTP/1.1 ${status} ${phrase}`,
    ...(text === '' ? [] : ['Content-Type: text/plain']),
    ...(status === 503 ? ['Retry-After: 2'] : []),
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
