// What the slice needs of its neighbours and of the conductor above it, as narrow as it uses them.

import type { PermissionMode, SessionCreate, SessionView, Unattended, UsageTotals } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { SessionTable } from '../store/session-tables.ts';
import type { Store, Tx } from '../store/store.ts';
import type { CheckpointRow } from './checkpoint-store.ts';

/** Conducts what stands in a session's rows. */
export type SessionConductor = {
  /** There may be something to do for it. What it fails of stands in its rows afterwards. */
  wake(id: string): void;
  /** Saves files and conversation as they are now; answers the checkpoint's id. Default: somebody asked for it. */
  checkpoint(id: string, kind?: 'asked' | 'fork'): Promise<string>;
  /** Keeps the files of its program's conversation for another session. Rejects with why it cannot. */
  keepConversation(id: string, kept: { readonly as: string; readonly conversation: string }): Promise<void>;
  /** Lets go of what was kept for a session that was not made. */
  forgetConversation(as: string): Promise<void>;
  /** A session that parted from another one is recorded: its environment is made, and it is woken. */
  parted(made: { readonly id: string; readonly environmentId: string }): void;
  /** Reads its files as they are now. */
  look(id: string): Promise<SessionLook>;
};

/** The files of a session at one moment: a commit of the mirror that no ref names. `notes`: what it does not hold. */
export type SessionLook = { readonly baseSha: string; readonly sha: string; readonly notes: readonly string[] };

/** Where a session's program runs. */
export type SessionPlace = { readonly id: string; readonly name: string; readonly projectId: string };

/** What a session is begun with. `agent`: the definition as it was then, as JSON. */
export type Admitted = {
  readonly harness: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly mode: PermissionMode;
  readonly agent: string | null;
  readonly unattended: Unattended;
  /** Hosts of the agent: the environment that is made for it has them. */
  readonly egress: readonly string[];
  readonly budget_usd: number | null;
  readonly max_turns: number | null;
};

/** A usage limit of the account that a session is paid by. `metAt` names it. */
export type AccountLimit = { readonly account: string; readonly until: number; readonly told: boolean; readonly metAt: number };

export type SessionParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Checks harness, model and mode against what is installed, can hold a conversation and is allowed. */
  admit(asked: SessionCreate): Promise<Admitted>;
  /** Throws `unsupported` for a mode that the program cannot keep. */
  checkMode(harness: string, mode: PermissionMode): void;
  /** What its program can do in a conversation. */
  abilities(harness: string): {
    readonly images: boolean;
    readonly files: boolean;
    readonly compaction: boolean;
    readonly models: boolean;
    readonly effort: boolean;
  };
  /** Throws `unsupported` for a model that the program cannot use. */
  checkModel(harness: string, model: string): void;
  /** Where the bytes of attachments are. */
  readonly attachments: string;
  /** Whether the program takes words into a turn that runs. */
  canSteer(harness: string): boolean;
  /** The environment that was named, or one that is made for this request. */
  place(asked: SessionCreate, made: { readonly requestId: string; readonly egress: readonly string[] }): Promise<SessionPlace>;
  /** What records, in the transaction that records a session, its environment with the files of a checkpoint of this one. */
  branchPlace(
    environmentId: string,
  ): Promise<(tx: Tx, asked: { readonly sessionId: string; readonly checkpoint: CheckpointRow }) => Promise<SessionPlace>>;
  /** Whether the program itself can begin a conversation of its own at a place of another one; else a record of that one is given. */
  forkOf(harness: string): SessionView['forks'];
  /** Throws `unsupported` when a reference names a program that a person attached. */
  refuseAttached(reference: string): Promise<void>;
  resolveProject(reference: string): Promise<{ readonly id: string; readonly name: string }>;
  projectsById(ids: readonly string[]): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string }>>;
  environmentsById(ids: readonly string[]): Promise<ReadonlyMap<string, SessionView['environment']>>;
  openInteractions(sessionId: string): Promise<number>;
  /** The usage limit that holds for its account, or null. */
  accountLimit(session: Pick<SessionTable, 'harness' | 'model'>): Promise<AccountLimit | null>;
  /** Files that were changed in its environment, `status path`; a line that says why where that cannot be known. */
  changedFiles(sessionId: string): Promise<readonly string[]>;
  /** What its model calls took so far. */
  usageOf(sessionId: string): Promise<UsageTotals>;
  /** What its model calls may cost from now on, also for a program that runs. */
  setBudget(tx: Tx, sessionId: string, budgetUsd: number | null): Promise<void>;
  /** After that is committed: a call under way may still have counted on what was before. */
  budgetTold(sessionId: string): void;
  /** Throws when there is no room for new work. */
  checkRoom(): void;
  conductor(): SessionConductor;
};
