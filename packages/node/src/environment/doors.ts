// What the slice needs of its neighbours and of the conductor above it, as narrow as it uses them.

import type { PullRequest } from '@orrery/protocol';
import type { Environment } from '../exec/backend.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import type { NamedRow } from './model.ts';

/** What a project is to an environment. */
export type ProjectRef = { readonly id: string; readonly name: string };

/** Conducts what is recorded as an environment's operation. */
export type EnvironmentConductor = {
  /** Begins what the row says, unless it is under way already. What it fails of stands in the row afterwards. */
  begin(id: string): void;
  /** Resolves when nothing is done to it. */
  settled(id: string): Promise<void>;
  /** The open place of an environment. */
  open(row: NamedRow): Promise<Environment>;
};

/** What the slice needs of its neighbours. */
export type EnvironmentParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  resolveProject(reference: string): Promise<ProjectRef>;
  projectsById(ids: readonly string[]): Promise<ReadonlyMap<string, ProjectRef>>;
  /** Checks backend, base and image against what the operator allows and the machine can; answers the backend's name. */
  admit(asked: {
    readonly projectId: string;
    readonly backend: string | null;
    readonly base: string | null;
    readonly image: string | null;
  }): Promise<string>;
  /** Throws when there is no room for new work. */
  checkRoom(): void;
  /** What of its checkout nothing else has; empty: nothing. */
  unsaved(id: string): Promise<readonly string[]>;
  diskLimitBytes(): number | null;
  /** How long a stopped environment is kept by retention; null: for ever. */
  keptForMs(): number | null;
  /** The newest pull request of each of these environments. */
  pullRequestsOf(ids: readonly string[]): Promise<ReadonlyMap<string, PullRequest>>;
  /** Why somebody can go on in it although it is stopped, as "the session fix"; null: nobody does. */
  heldBy(id: string): Promise<string | null>;
  /** Puts on record that retention took one. */
  pruned(what: { readonly id: string; readonly name: string; readonly actor: string; readonly unusedMs: number }): Promise<void>;
  readonly environmentsDirectory: string;
  conductor(): EnvironmentConductor;
};
