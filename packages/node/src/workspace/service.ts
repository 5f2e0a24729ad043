import { mkdirSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { createRemover, type OwnedDirectory } from '../files/remove.ts';
import type { Git } from '../git/run.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import { WARM_SLOTS } from '../kernel/limits.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Random } from '../kernel/random.ts';
import type { Store } from '../store/store.ts';
import { bringFiles, likeFiles, type Brought } from './bring-files.ts';
import { makeDirectory, removeDirectory } from './directories.ts';
import {
  mirrorPath,
  type Checkout,
  type Collected,
  type DirectoryKind,
  type LfsPolicy,
  type Reclaimed,
  type Saved,
  type SubmodulePolicy,
  type WorkspaceContext,
} from './model.ts';
import { recoverDirectories, type Recovered } from './recover.ts';
import { collectCheckout, makeScratch, releaseCheckout, salvageCheckout, unsavedIn } from './release.ts';
import { reclaimAside, reclaimSalvage, type ReclaimedSalvage } from './retention.ts';
import { forgetSetup, keepSetup, reclaimSetups, takeSetup, type SetupState } from './setup-cache.ts';
import { fillLfs, type FilledLfs } from './lfs.ts';
import { fillModules } from './submodules.ts';
import { checkpointCheckout, dropCheckpoint, listCheckpoints, restoreCheckout, type CheckoutPoint } from './checkpoint.ts';
import { claimSlot, toCheckout, warmSlot, type Claim } from './slot.ts';
import { listDirectories, salvageOfTask, updateDirectory, userPaths } from './store.ts';

/** Places to work in, and what is in them. Collecting, saving and releasing expect that every program in there has ended. */
export type Workspace = {
  /** A checkout at a recorded commit on a branch of its own. Rejects with `git_failed` when the mirror lacks the commit. */
  claim(claim: Claim): Promise<Checkout>;
  /** Copies ignored files of the project's folder into a checkout in which nothing ran yet; they never come back from it. */
  bringFiles(id: string, patterns: readonly string[]): Promise<Brought>;
  /** Before a checkout becomes a copy of another: what was copied into that one never comes back from this one either. */
  likeFiles(id: string, from: string): Promise<void>;
  /**
   * Fills the submodules of a checkout in which nothing ran yet, and answers their commits. Rejects with `repository_unusable`
   * when one cannot be had.
   */
  fillModules(id: string, policy: SubmodulePolicy): Promise<readonly string[]>;
  /**
   * Fills files of Git LFS in a checkout in which nothing ran yet. Rejects with `repository_unusable` when one cannot be had.
   */
  fillLfs(id: string, policy: LfsPolicy): Promise<FilledLfs>;
  /** Puts the state of an earlier set-up with the same key into a checkout in which nothing ran yet; null: there is none. */
  takeSetup(id: string, state: SetupState): Promise<{ readonly madeAtMs: number } | null>;
  /** Keeps what a set-up left in a checkout, for others; answers why not, or null. */
  keepSetup(id: string, state: SetupState): Promise<string | null>;
  forgetSetup(projectId: string, key: string): Promise<void>;
  /** Takes away what set-ups left and nobody used for its days; answers how many. */
  reclaimSetups(): Promise<number>;
  /** A place without a repository. */
  scratch(taskId: string): Promise<Checkout>;
  /** The checkout a task has now, if any; for a node that started again. */
  checkoutOf(taskId: string): Promise<Checkout | null>;
  /** Stores what a task (default: whose checkout it is) made as `refs/orrery/results/<task>/<attempt>` of the mirror; the checkout stays as it is. */
  collect(
    id: string,
    options: { readonly attempt: number; readonly message?: string; readonly taskId?: string },
  ): Promise<Collected>;
  /** Saves everything of a checkout as it is now, as `refs/orrery/checkpoints/<owner>/<name>`; nothing in it changes. */
  checkpoint(
    id: string,
    named: { readonly owner: string; readonly name: string },
  ): Promise<CheckoutPoint & { readonly ref: string; readonly notes: readonly string[] }>;
  /** Checkpoints that a project's mirror has, and when each was named (ms; null: nobody knows); none where it has no mirror. */
  checkpoints(
    projectId: string,
  ): Promise<readonly { readonly ref: string; readonly sha: string; readonly namedMs: number | null }[]>;
  /** Takes a checkpoint's ref away. */
  dropCheckpoint(projectId: string, checkpoint: { readonly ref: string; readonly sha: string }): Promise<void>;
  /** Makes a checkout what a checkpoint has; what nothing else has is saved first. Answers what could not be done. */
  restore(id: string, to: Parameters<typeof restoreCheckout>[2]): Promise<readonly string[]>;
  /** Saves what no ref names yet as `refs/orrery/salvage/<task>/<n>`; empty when there is nothing. */
  salvage(id: string, reason: string): Promise<readonly Saved[]>;
  /** The work of a task that was saved, or null when nothing of it was. */
  salvageOf(taskId: string): Promise<{ readonly ref: string; readonly sha: string } | null>;
  /** What of a checkout no ref of the mirror names, in words; empty: nothing. It is only looked at. */
  unsaved(id: string): Promise<readonly string[]>;
  /**
   * Gives a checkout back; unsaved work is saved first (`salvage`) or refused with `unsaved_work`. It is looked at anew,
   * unless the caller knows that it is `untouched` since it was collected.
   */
  release(
    id: string,
    options: { readonly salvage: boolean; readonly reason: string; readonly untouched?: boolean },
  ): Promise<readonly Saved[]>;
  /** Makes one ready slot for the next task, unless there are enough. */
  warm(projectId: string, baseSha: string): Promise<void>;
  /** Settles what an earlier node left; `live` tasks keep their checkouts. */
  recover(live: readonly string[]): Promise<Recovered>;
  /** What was moved aside and is older than its days: listed, or removed. */
  reclaim(options: { readonly dryRun: boolean; readonly days?: number }): Promise<readonly Reclaimed[]>;
  /** Saved work older than so many days: listed, or its refs taken away. */
  reclaimSalvage(options: { readonly dryRun: boolean; readonly days: number }): Promise<readonly ReclaimedSalvage[]>;
  /** What lies aside now. */
  aside(): Promise<
    readonly { readonly id: string; readonly path: string; readonly taskId: string | null; readonly sinceMs: number }[]
  >;
  /** Makes and records another directory of the node, so that it can be removed by the one deletion path. */
  makeDirectory(directory: {
    readonly kind: DirectoryKind;
    readonly path: string;
    readonly projectId: string | null;
  }): Promise<OwnedDirectory & { readonly id: string }>;
  /** Marks a directory as finished. */
  keepDirectory(id: string): Promise<void>;
  /** Removes every directory of a project but those in use. `mirror`: its mirror too. Answers how many are in use. */
  forgetProject(projectId: string, options: { readonly mirror: boolean }): Promise<{ readonly inUse: number }>;
  mirrorOf(projectId: string): string;
  /** Resolves when the work in the background has ended. */
  settled(): Promise<void>;
  /**
   * Stops the work in the background where the next start can go on with it (its directories stay `scrubbing` or
   * `removing`, what is to be deleted lies in the trash), and resolves when nothing of it runs any more. Repeatable.
   */
  close(): Promise<void>;
};

/** What a workspace is made of. */
export type WorkspaceParts = {
  readonly dataDirectory: string;
  readonly store: Store;
  readonly git: Git;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly identity?: { readonly name: string; readonly email: string };
  readonly warmSlots?: number;
  /** Resolves the names of servers that the node fetches files from itself. Default: the system. */
  readonly lookup?: LookupFunction;
};

/** Opens the workspaces of one data directory. */
export const createWorkspace = (parts: WorkspaceParts): Workspace => {
  const stopping = new AbortController();
  const background = createBackground(parts.log, stopping.signal);
  const context = makeContext(parts, { later: background.start, stopping: stopping.signal });
  return {
    claim: (claim) => claimSlot(context, claim),
    bringFiles: (id, patterns) => bringFiles(context, id, patterns),
    likeFiles: (id, from) => likeFiles(context, id, from),
    fillModules: (id, policy) => fillModules(context, id, policy),
    fillLfs: (id, policy) => fillLfs(context, id, policy),
    takeSetup: (id, state) => takeSetup(context, id, state),
    keepSetup: (id, state) => keepSetup(context, id, state),
    forgetSetup: (projectId, key) => forgetSetup(context, projectId, key),
    reclaimSetups: () => reclaimSetups(context),
    scratch: (taskId) => makeScratch(context, taskId),
    checkoutOf: async (taskId) => {
      const row = (await listDirectories(context.store.read, { taskId, state: 'claimed' }))[0];
      return row === undefined ? null : toCheckout(context, row);
    },
    collect: (id, options) => collectCheckout(context, id, options),
    checkpoint: (id, named) => checkpointCheckout(context, id, named),
    checkpoints: (projectId) => listCheckpoints(context, projectId),
    dropCheckpoint: (projectId, checkpoint) => dropCheckpoint(context, projectId, checkpoint),
    restore: (id, to) => restoreCheckout(context, id, to),
    salvage: (id, reason) => salvageCheckout(context, id, reason),
    salvageOf: async (taskId) => (await salvageOfTask(context.store.read, taskId)) ?? null,
    unsaved: (id) => unsavedIn(context, id),
    release: (id, options) => releaseCheckout(context, id, options),
    warm: (projectId, baseSha) => warmSlot(context, { projectId, baseSha }),
    recover: (live) => recoverDirectories(context, new Set(live)),
    reclaim: (options) => reclaimAside(context, options),
    reclaimSalvage: (options) => reclaimSalvage(context, options),
    aside: async () =>
      (await listDirectories(context.store.read, { kind: 'aside', state: 'kept' })).map(({ id, path, task_id, used_at }) => ({
        id,
        path,
        taskId: task_id,
        sinceMs: used_at,
      })),
    makeDirectory: (directory) => makeDirectory(context, { ...directory, taskId: null }),
    keepDirectory: (id) => context.store.transaction((tx) => updateDirectory(tx.db, id, { state: 'kept' })),
    forgetProject: (projectId, { mirror }) => forgetProject(context, projectId, mirror),
    mirrorOf: (projectId) => mirrorPath(parts.dataDirectory, projectId),
    settled: background.settled,
    close: async () => {
      stopping.abort();
      await background.settled();
      await context.remover.settled();
    },
  };
};

const makeContext = (parts: WorkspaceParts, given: Pick<WorkspaceContext, 'later' | 'stopping'>): WorkspaceContext => {
  const { dataDirectory, store, log } = parts;
  mkdirSync(join(dataDirectory, 'workspaces'), { recursive: true, mode: 0o700 });
  const remover = createRemover({
    root: dataDirectory,
    trash: join(dataDirectory, 'workspaces', '.trash'),
    protectedPaths: () => userPaths(store.read),
    onFailure: (thrown) => log.warn('workspace.remove.failed', errorFields(thrown)),
    stopping: given.stopping,
  });
  const identity = parts.identity ?? { name: 'Orrery', email: 'orrery@localhost' };
  return {
    ...parts,
    remover,
    identity,
    mutex: createMutex(),
    warmSlots: parts.warmSlots ?? WARM_SLOTS,
    collected: new Map(),
    ...given,
  };
};

/** Work that goes on after the answer was given, one after the other, so that it does not take the disk from the next task. */
const createBackground = (log: Log, stopping: AbortSignal) => {
  let tail: Promise<void> = Promise.resolve();
  return {
    start: (work: () => Promise<void>): void => {
      tail = tail
        .then(() => (stopping.aborted ? undefined : work()))
        .catch((thrown: unknown) => log.error('workspace.background.failed', errorFields(thrown)));
    },
    settled: async (): Promise<void> => {
      for (let seen: Promise<void> | null = null; seen !== tail;) {
        seen = tail;
        await seen;
      }
    },
  };
};

const forgetProject = (context: WorkspaceContext, projectId: string, mirror: boolean): Promise<{ inUse: number }> =>
  context.mutex.run(`pool:${projectId}`, async () => {
    const rows = await listDirectories(context.store.read, { projectId });
    const used = rows.filter(({ kind, state }) => kind === 'slot' && ['claimed', 'priming', 'scrubbing'].includes(state));
    if (used.length > 0) return { inUse: used.length };
    for (const row of rows.filter(({ kind }) => ['slot', 'setup'].includes(kind) || (mirror && kind === 'mirror')))
      await removeDirectory(context, row);
    return { inUse: 0 };
  });
