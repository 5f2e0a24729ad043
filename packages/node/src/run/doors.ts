// What a run needs of the slices and rings below, as narrow as it uses them. boot.ts gives the real ones.

import type { MemoryKind, TaskIntent, UsageTotals } from '@orrery/protocol';
import type { NamedPorts, OpenScreen, ScreenAsked } from '../environment/index.ts';
import type { ImageAsked, ImageRules } from '../config/settle-image.ts';
import type { Backend, Environment } from '../exec/backend.ts';
import type { OwnedDirectory } from '../files/remove.ts';
import type { CommittedTree, TreeFile } from '../git/committed-tree.ts';
import type { GatewayFailure, Harness, InstalledProgram } from '../harness/harness.ts';
import type { KeeperGuarantee } from '../keeper/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Mutex } from '../kernel/mutex.ts';
import type { KeptSkill } from '../store/kept-agent.ts';
import type { Store, Tx } from '../store/store.ts';
import type { CheckoutPoint } from '../workspace/index.ts';
import type { AtKillPoint } from './kill-points.ts';

/** Hooks that a repository may have, by their file names in `.orrery/hooks/`. */
export const hookNames = ['init', 'before', 'validation', 'after'] as const;
export type HookName = (typeof hookNames)[number];

/** A directory for one task: a checkout of a project or a scratch folder. */
export type WorkPlace = {
  readonly checkoutId: string;
  readonly path: string;
  /** Inside it, read-only to programs where the backend can. */
  readonly readOnly: readonly string[];
  /** Directories outside it that Git needs to read (the mirror's objects). */
  readonly reads: readonly string[];
  /** Commits of submodules that are filled: their history is borrowed, too. */
  readonly modules?: readonly string[];
  /** Other commits whose history it borrows. */
  readonly commits?: readonly string[];
};

/** What an attempt left behind, safe in the mirror. */
export type Collected = {
  readonly headSha: string | null;
  readonly resultRef: string | null;
  readonly filesChanged: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly commits: number;
  readonly salvageRef: string | null;
  /** What is worth saying: a broken .git, a rebase half done, another branch … */
  readonly notes: readonly string[];
};

/** What a set-up's state follows from, and the folders of the checkout that hold it. */
export type SetupState = { readonly key: string; readonly paths: readonly string[] };

export type ProjectDoor = {
  /** Brings the mirror up to date. */
  refresh(projectId: string): Promise<void>;
  /** The commit of a base; null: what the user has checked out. */
  resolveBase(projectId: string, base: string | null): Promise<{ readonly sha: string; readonly name: string }>;
  /** Hooks and the project file of that very commit, as plain blobs. */
  readHooks(
    projectId: string,
    sha: string,
  ): Promise<{ readonly hooks: ReadonlyMap<HookName, Uint8Array>; readonly projectFile: string | null }>;
  /** Every file below a folder of a commit ('.': all of it), as plain blobs. */
  listTree(projectId: string, at: { readonly commit: string; readonly folder: string }): Promise<CommittedTree>;
  /** Contents of such files, in their order. */
  readFiles(projectId: string, files: readonly TreeFile[]): AsyncIterable<Buffer>;
};

export type WorkspaceDoor = {
  /** A clean checkout at `baseSha`; called again for the same task and attempt it answers the same one. */
  claim(asked: {
    readonly projectId: string;
    readonly taskId: string;
    readonly attempt: number;
    readonly baseSha: string;
    readonly branch: string;
  }): Promise<WorkPlace>;
  /** Copies ignored files of the project's folder into a checkout in which nothing ran yet; answers what could not be, in words. */
  bringFiles(checkoutId: string, patterns: readonly string[]): Promise<readonly string[]>;
  /** Before a checkout becomes a copy of another: what was copied into that one counts as copied into this one. */
  likeFiles(checkoutId: string, from: string): Promise<void>;
  /** Fills the submodules of a checkout in which nothing ran yet; answers their commits. */
  fillModules(checkoutId: string, policy: AttemptSettings['submodules']): Promise<readonly string[]>;
  /** Fills files of Git LFS in a checkout in which nothing ran yet; answers what is worth knowing, in words. */
  fillLfs(checkoutId: string, policy: AttemptSettings['lfs']): Promise<readonly string[]>;
  /** Puts the state of an earlier set-up with the same key into a checkout in which nothing ran yet; null: there is none. */
  takeSetup(checkoutId: string, state: SetupState): Promise<{ readonly madeAtMs: number } | null>;
  /** Keeps what a set-up left in a checkout in which nothing else ran; answers why not, or null. */
  keepSetup(checkoutId: string, state: SetupState): Promise<string | null>;
  forgetSetup(projectId: string, key: string): Promise<void>;
  scratch(asked: { readonly taskId: string; readonly attempt: number }): Promise<WorkPlace>;
  /** Brings everything that was done into the mirror. Nothing of it runs. Repeatable. */
  collect(asked: {
    readonly checkoutId: string;
    readonly taskId: string;
    readonly attempt: number;
    readonly baseSha: string | null;
    /** Message of the commit for what the agent did not commit itself. */
    readonly message: string;
  }): Promise<Collected>;
  /** Gives the directory back; what is not saved yet is salvaged first. Repeatable. */
  release(checkoutId: string, reason?: string): Promise<void>;
  /** The directory that a task (or an environment of its own, by its id) has now, or null. */
  checkoutOf(taskId: string): Promise<WorkPlace | null>;
  /** The change of an attempt that goes on, between two programs of it: its files and its patch, as text. */
  changeSoFar(asked: {
    readonly checkoutId: string;
    readonly projectId: string;
    readonly taskId: string;
    readonly attempt: number;
    readonly baseSha: string;
  }): Promise<string>;
  /** Saves a checkout as it is now; nothing in it changes. */
  checkpoint(
    checkoutId: string,
    named: { readonly owner: string; readonly name: string },
  ): Promise<CheckoutPoint & { readonly ref: string; readonly notes: readonly string[] }>;
  dropCheckpoint(projectId: string, checkpoint: { readonly ref: string; readonly sha: string }): Promise<void>;
  /** Makes a checkout what a checkpoint has; what nothing else has is saved and told first. Answers what could not be done. */
  restore(
    checkoutId: string,
    to: {
      readonly point: CheckoutPoint;
      readonly reason: string;
      readonly onSaved: (saved: readonly { readonly ref: string }[]) => Promise<void>;
    },
  ): Promise<readonly string[]>;
  /** The work of a task that was saved without a result, or null. */
  salvageOf(taskId: string): Promise<{ readonly ref: string; readonly sha: string } | null>;
  /** Settles directories that no live task names. */
  recover(liveTaskIds: readonly string[]): Promise<void>;
};

export type TokenDoor = {
  /** Two fresh tokens for an environment; earlier ones of it end. */
  mint(asked: {
    readonly environmentId: string;
    readonly taskId: string;
    readonly upstream: string | null;
    /** Whose program calls; null: none, the node asks. */
    readonly harness: string | null;
    readonly budgetUsd: number | null;
    readonly egress: readonly string[];
    /** MCP servers of the operator that its agent names; absent: none. */
    readonly mcp?: readonly string[];
  }): Promise<{ readonly run: string; readonly egress: string }>;
  end(environmentId: string): Promise<void>;
};

/** What an attempt runs with: the request, narrowed by project and operator. */
export type AttemptSettings = {
  readonly harness: string;
  readonly model: string | null;
  /** Provider that answers all model calls of the task in place of the ones the program names; null: as named. */
  readonly upstream: string | null;
  readonly effort: string | null;
  readonly backend: string;
  /** What the project's file says a task begins at when the request says nothing. */
  readonly base: string | null;
  readonly maxRetries: number;
  /** Holds `{{validation_output}}`. */
  readonly retryPrompt: string;
  readonly egress: readonly string[];
  /** Memories that are carried in. */
  readonly memory: readonly MemoryKind[];
  /** Names of ports that the environment gets. */
  readonly ports: readonly string[];
  readonly required: readonly KeeperGuarantee[];
  readonly wallMs: number;
  readonly hookMs: number;
  readonly turnMs: number;
  readonly cpuSeconds: number | null;
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly outputBytes: number;
  /** Checkout and home together; null: no limit. */
  readonly diskBytes: number | null;
  /** Image that the project asks for, of those the operator allows, or built for it; null: the backend's own. */
  readonly image: string | null;
  /** Ignored files of the project's folder that are copied into the checkout. */
  readonly copy: readonly string[];
  /** Which submodules are filled: none, those of the commit, or those in them, too. */
  readonly submodules: 'none' | 'shallow' | 'recursive';
  /** What files in Git LFS are: their pointers, or their contents. */
  readonly lfs: 'pointers' | 'fetch';
  /** Folders that hold all that a set-up leaves. */
  readonly cache: readonly string[];
  /** Where the base commit says which image it is. Absent: it is not asked. */
  readonly imageFrom?: ImageAsked;
  /** What it says besides: values for every program, and who programs are. Absent: nothing. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly user?: string;
  /** Lines that set up an environment people open. */
  readonly setup: readonly string[];
  /** How many of them, the last ones, are the project file's; absent: all. */
  readonly ownSetup?: number;
};

/** A named environment as it was made, for a task that works in it. */
export type TakenPlace = {
  readonly backend: string;
  /** The image that it was asked for with. Absent: none was named. */
  readonly image?: string;
  readonly branch: string;
  readonly baseSha: string;
  readonly baseName: string;
  readonly place: WorkPlace;
  /** Without `init`: its set-up ran that. */
  readonly hooks: readonly HookName[];
};

export type NamedDoor = {
  /**
   * Takes an environment for a task once it is ready; a stopped one is started. The same task may ask again.
   * Rejects with `conflict` when it failed, `busy` when another task has it, `not_found` when it was deleted.
   */
  take(id: string, asked: { readonly taskId: string; readonly signal: AbortSignal }): Promise<TakenPlace>;
  open(id: string): Promise<Environment>;
  /** In the transaction that ends the task. */
  giveBack(tx: Tx, id: string, taskId: string): Promise<void>;
};

/** What conducting a named environment needs. */
export type ConductorParts = Omit<RunParts, 'named'>;

export type RunParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly projects: ProjectDoor;
  readonly workspace: WorkspaceDoor;
  readonly tokens: TokenDoor;
  readonly named: NamedDoor;
  /** The backend of a name; throws for unknown or forbidden ones. */
  backend(name: string): Backend;
  backends(): readonly Backend[];
  harness(id: string): Harness;
  program(id: string): Promise<InstalledProgram | null>;
  /** The files of a skill as they are now, or at its commit. Rejects with `not_found`. */
  skillFiles(
    skill: KeptSkill,
    projectId: string | null,
  ): Promise<readonly { readonly path: string; readonly content: Uint8Array }[]>;
  usageOf(taskId: string): Promise<UsageTotals>;
  /** What failed in the newest model call of an environment since an instant, or null. */
  gatewayFailure(environmentId: string, sinceMs: number): GatewayFailure | null;
  /** A turn begins in an environment: its model calls are made whatever the ones before came to. */
  forgetFailure(environmentId: string): void;
  /** How long a model may be silent inside one answer, ms. */
  modelQuietMs(): number;
  /** Whether the gateway refused a call of this task because of its budget. */
  budgetRefused(taskId: string): boolean;
  /** Asks a model (absent: the one that answered the agent of an environment last); answers its text. */
  ask(question: {
    readonly environmentId: string;
    readonly token: string;
    readonly model?: { readonly provider: string; readonly model: string };
    readonly system: string;
    readonly text: string;
    readonly signal: AbortSignal;
  }): Promise<string>;
  /** Merges request, project file and operator; throws `widening_refused` or `config_invalid`. */
  settle(asked: {
    readonly intent: TaskIntent;
    readonly projectId: string | null;
    readonly projectFile: string | null;
  }): Promise<AttemptSettings>;
  /** Whether agent programs may run what a project's repository brings for them, as the operator says now; and its name. */
  trustedProject(projectId: string): Promise<{ readonly trusted: boolean; readonly name: string }>;
  /** What the operator says of images now. */
  imageRules(): ImageRules;
  /** Ports of an environment that is about to be recorded, by name. */
  allocatePorts(environmentId: string, names: readonly string[]): Promise<NamedPorts>;
  /** Lets people look at the full screen of a run, and write to it. */
  openScreen(asked: ScreenAsked): Promise<OpenScreen>;
  /** Removes an environment's directory (made and recorded by the node). */
  removeEnvironment(id: string): Promise<void>;
  /** Removes a directory that the node made and recorded. */
  removeOwned(directory: OwnedDirectory): Promise<void>;
  readonly environmentsDirectory: string;
  /** Where conversations of tasks that ended are kept. */
  readonly conversationsDirectory: string;
  /** Where the masters of memories lie. */
  readonly memoryDirectory: string;
  /** Merges into one master follow each other. */
  readonly memoryTurns: Mutex;
  readonly brokerSocket: string;
  readonly asRoot: boolean;
  readonly atKillPoint: AtKillPoint;
  queue(): { readonly parallel: number; readonly perProject: number };
  /** This start of the node; owner of its leases. */
  readonly generation: string;
};
