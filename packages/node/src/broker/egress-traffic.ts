import { EGRESS_HOSTS_REMEMBERED } from './limits.ts';
import { createRemembered } from './remembered.ts';

/** What was asked of one host and port. */
export type HostTraffic = {
  readonly host: string;
  readonly port: number;
  readonly passed: number;
  readonly refused: number;
  /** Why it was refused the last time. */
  readonly reason: string | null;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly lastAtMs: number;
};

/** One request as it ended. */
export type Passed = {
  readonly host: string;
  readonly port: number;
  /** null: it was passed. */
  readonly reason: string | null;
  readonly sent: number;
  readonly received: number;
  readonly atMs: number;
};

/** What the environments asked for since this node started; the audit log has each request. */
export type EgressTraffic = {
  /** Answers whether this host and port were refused to the environment for the first time. */
  note(environmentId: string, passed: Passed): boolean;
  /** Newest first. */
  list(environmentId: string): readonly HostTraffic[];
};

/** Makes the memory; bounded in environments and in hosts of each. */
export const createEgressTraffic = (): EgressTraffic => {
  const environments = createRemembered<Map<string, HostTraffic>>();
  return {
    note(environmentId, { host, port, reason, sent, received, atMs }) {
      const hosts = environments.get(environmentId) ?? new Map<string, HostTraffic>();
      environments.set(environmentId, hosts);
      const key = `${host}:${port}`;
      const before = hosts.get(key);
      const refused = reason === null ? 0 : 1;
      hosts.delete(key);
      hosts.set(key, {
        host,
        port,
        passed: (before?.passed ?? 0) + 1 - refused,
        refused: (before?.refused ?? 0) + refused,
        reason: reason ?? before?.reason ?? null,
        sentBytes: (before?.sentBytes ?? 0) + sent,
        receivedBytes: (before?.receivedBytes ?? 0) + received,
        lastAtMs: atMs,
      });
      const [oldest] = hosts.keys();
      if (hosts.size > EGRESS_HOSTS_REMEMBERED && oldest !== undefined) hosts.delete(oldest);
      return refused === 1 && (before?.refused ?? 0) === 0;
    },
    list: (environmentId) => [...(environments.get(environmentId)?.values() ?? [])].toReversed(),
  };
};
