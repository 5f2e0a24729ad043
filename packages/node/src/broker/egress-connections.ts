import type { Target } from './egress-refusal.ts';

/** One connection through the proxy. */
export type OpenConnection = {
  readonly target: Target;
  /** The address that was dialled for it. */
  readonly address: string;
  readonly stream: { destroy(): void; once(event: 'close', listener: () => void): unknown };
  /** Told before the proxy ends it for a rule. */
  readonly onDenied: (reason: string) => void;
};

/** The open connections of every environment. */
export type EgressConnections = {
  count(environmentId: string): number;
  /** Keeps it until it closes. */
  add(environmentId: string, connection: OpenConnection): void;
  /** The environments that have one open. */
  environments(): readonly string[];
  /** Ends those for which `refusal` has a reason; answers how many. */
  endDenied(environmentId: string, refusal: (connection: OpenConnection) => string | null): number;
  endAll(environmentId: string): void;
};

/** Makes the register. */
export const createEgressConnections = (): EgressConnections => {
  const open = new Map<string, Set<OpenConnection>>();
  return {
    count: (environmentId) => open.get(environmentId)?.size ?? 0,
    add(environmentId, connection) {
      const connections = open.get(environmentId) ?? new Set();
      open.set(environmentId, connections.add(connection));
      connection.stream.once('close', () => {
        connections.delete(connection);
        if (connections.size === 0 && open.get(environmentId) === connections) open.delete(environmentId);
      });
    },
    environments: () => [...open.keys()],
    endDenied(environmentId, refusal) {
      let ended = 0;
      const connections = open.get(environmentId) ?? new Set();
      for (const connection of connections) {
        const reason = refusal(connection);
        if (reason === null) continue;
        connection.onDenied(reason);
        connections.delete(connection);
        connection.stream.destroy();
        ended += 1;
      }
      return ended;
    },
    endAll(environmentId) {
      for (const { stream } of open.get(environmentId) ?? []) stream.destroy();
    },
  };
};
