// What the slice needs of its neighbours and of the conductor above it, as narrow as it uses them.

import type { PermissionMode, SessionCreate, SessionView, UsageTotals } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';

/** Conducts what stands in a session's rows. */
export type SessionConductor = {
  /** There may be something to do for it. What it fails of stands in its rows afterwards. */
  wake(id: string): void;
};

/** Where a session's program runs. */
export type SessionPlace = { readonly id: string; readonly name: string; readonly projectId: string };

export type SessionParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  /** Checks harness, model and mode against what is installed, can hold a conversation and is allowed. */
  admit(
    asked: SessionCreate,
  ): Promise<{ readonly harness: string; readonly model: string | null; readonly effort: string | null }>;
  /** Throws `unsupported` for a mode that the program cannot keep. */
  checkMode(harness: string, mode: PermissionMode): void;
  /** Whether the program takes words into a turn that runs. */
  canSteer(harness: string): boolean;
  /** The environment that was named, or one that is made for this request. */
  place(asked: SessionCreate, requestId: string): Promise<SessionPlace>;
  resolveProject(reference: string): Promise<{ readonly id: string; readonly name: string }>;
  projectsById(ids: readonly string[]): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string }>>;
  environmentsById(ids: readonly string[]): Promise<ReadonlyMap<string, SessionView['environment']>>;
  openInteractions(sessionId: string): Promise<number>;
  /** What its model calls took so far. */
  usageOf(sessionId: string): Promise<UsageTotals>;
  /** Throws when there is no room for new work. */
  checkRoom(): void;
  conductor(): SessionConductor;
};
