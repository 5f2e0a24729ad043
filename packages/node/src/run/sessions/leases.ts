// A conductor acts for a session under its lease: each of its transactions looks whether it still has it.

import { OrreryError } from '@orrery/protocol';
import { LEASE_MS } from '../../kernel/limits.ts';
import {
  checkLease,
  claimSession,
  releaseSessions,
  renewSessions,
  takeSessionsOver,
  type SessionLease,
} from '../../session/index.ts';
import type { Store } from '../../store/store.ts';
import type { SessionConductorParts } from './context.ts';

/** What a conductor is made with: the lease comes with each session. */
export type UnheldParts = Omit<SessionConductorParts, 'held'>;

export type Leases = {
  /** The same parts, for this session alone; a number is the instant until which somebody else has it. */
  take(id: string): Promise<SessionConductorParts | number>;
  /** Prolongs those of the sessions that are conducted, when it is time. */
  renew(ids: readonly string[]): Promise<void>;
  /** Takes over what a dead start of the node had. */
  takeOver(): Promise<void>;
  /** Gives all back. */
  release(): Promise<void>;
};

/** Whether a conductor lost a session to another one. */
export const isLeaseLost = (thrown: unknown): boolean => thrown instanceof OrreryError && thrown.code === 'stale';

/** Nothing is committed by who does not have the session any more. */
const fencedStore = (store: Store, lease: SessionLease): Store => ({
  ...store,
  transaction: (job) =>
    store.transaction(async (tx) => {
      await checkLease(tx.db, lease);
      return job(tx);
    }),
  append: (events) =>
    store.transaction(async (tx) => {
      await checkLease(tx.db, lease);
      return tx.append(events);
    }),
});

export const createLeases = (parts: UnheldParts): Leases => {
  const { store, clock, generation: owner } = parts;
  let renewedMs = 0;
  return {
    take: async (id) => {
      const lease = await store.transaction((tx) => claimSession(tx.db, id, { owner, nowMs: clock.nowMs() }));
      if (typeof lease === 'number') return lease;
      return { ...parts, store: fencedStore(store, lease), held: () => checkLease(store.read, lease) };
    },
    renew: async (sessionIds) => {
      const nowMs = clock.nowMs();
      if (sessionIds.length === 0 || nowMs - renewedMs < LEASE_MS / 3) return;
      renewedMs = nowMs;
      await store.transaction((tx) => renewSessions(tx.db, { owner, nowMs, sessionIds }));
    },
    takeOver: () => store.transaction((tx) => takeSessionsOver(tx.db, { owner, nowMs: clock.nowMs() })),
    release: () => store.transaction((tx) => releaseSessions(tx.db, owner)),
  };
};
