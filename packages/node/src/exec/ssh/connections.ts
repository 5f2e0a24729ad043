// The connections to one host: as many as its sessions need, each closed when nobody uses it.
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from './connection.ts';
import type { HostFacts } from './facts.ts';
import type { ForwardedSocket } from '../remote/place.ts';
import type { Session } from './session.ts';

/** How connections are kept. */
export type ConnectionsOptions = {
  readonly open: () => Promise<Connection>;
  readonly sessionsEach: number;
  readonly idleMs: number;
};

/** All connections to a host. */
export type Connections = {
  /** Facts of the host, by the newest connection; connects when there is none. */
  facts(): Promise<HostFacts>;
  session(spec: Parameters<Connection['session']>[0]): Promise<Session>;
  /** Forwards a socket of the host on one of them, which then stays open. Null where the server refuses. */
  forward(inside: string, target: string): Promise<ForwardedSocket | null>;
  /** Ends all of them. What runs on the host is not touched. */
  close(): void;
};

/** `forwards` keep a connection open and are no sessions. */
type Line = { readonly connection: Connection; sessions: number; forwards: number; idle: NodeJS.Timeout | null };

/** None is open at first. */
export const createConnections = ({ open, sessionsEach, idleMs }: ConnectionsOptions): Connections => {
  const lines = new Set<Line>();
  let opening: Promise<Line> | null = null;
  let closed = false;
  const wake = (line: Line): void => {
    if (line.idle !== null) clearTimeout(line.idle);
    line.idle = null;
  };
  const drop = (line: Line): void => {
    lines.delete(line);
    wake(line);
  };
  const rest = (line: Line): void => {
    wake(line);
    if (line.sessions + line.forwards > 0 || !lines.has(line)) return;
    line.idle = setTimeout(() => {
      drop(line);
      line.connection.close();
    }, idleMs);
    line.idle.unref();
  };
  const openLine = async (): Promise<Line> => {
    const connection = await open();
    const line: Line = { connection, sessions: 0, forwards: 0, idle: null };
    if (closed) {
      connection.close();
      throw new OrreryError('backend_unreachable', 'The node is leaving the host.');
    }
    lines.add(line);
    void connection.over.then(() => drop(line));
    return line;
  };
  /** Opened one after the other: whoever waits takes what there is then. */
  const another = async (): Promise<void> => {
    opening ??= openLine().finally(() => {
      opening = null;
    });
    rest(await opening);
  };
  const free = (): Line | undefined => lines.values().find(({ sessions }) => sessions < sessionsEach);
  const take = async (): Promise<Line> => {
    for (let line = free(); ; line = free()) {
      if (line !== undefined) {
        wake(line);
        line.sessions += 1;
        return line;
      }
      await another();
    }
  };
  const forward: Connections['forward'] = async (inside, target) => {
    const line = await take();
    line.sessions -= 1;
    line.forwards += 1;
    const { connection } = line;
    const end = Promise.withResolvers<unknown>();
    void connection.over.then(end.resolve);
    void end.promise.then(() => {
      line.forwards -= 1;
      rest(line);
    });
    try {
      if (await connection.forward(inside, target)) {
        const close = (): void => {
          connection.endForward(inside, target);
          end.resolve(null);
        };
        return { over: end.promise, close };
      }
    } catch (thrown) {
      end.resolve(null);
      throw thrown;
    }
    end.resolve(null);
    return null;
  };
  return {
    forward,
    facts: async () => {
      for (let line = [...lines].at(-1); ; line = [...lines].at(-1)) {
        if (line !== undefined) return line.connection.facts;
        await another();
      }
    },
    session: async (spec) => {
      const line = await take();
      const session = line.connection.session(spec);
      void session.over.then(() => {
        line.sessions -= 1;
        rest(line);
      });
      return session;
    },
    close: () => {
      closed = true;
      for (const line of [...lines]) {
        drop(line);
        line.connection.close();
      }
    },
  };
};
