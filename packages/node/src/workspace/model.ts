// Glossary. A slot is a folder the node made for one project: `tree` is the work tree (with the agent's own `.git`), the
// rest is the node's view of it, out of the agent's reach. A checkout is a slot while a task has it. A slot is ready when
// its tree was proven equal to its base and nothing of an agent is left in it. Scratch: a checkout without a repository.
// Copied: an ignored file of the user's own folder that the node brought into a checkout; it never leaves it again.
// Aside: what was moved out of a released checkout because Git does not store it; kept for a named number of days.

import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import type { Tip } from '../git/agent-git.ts';
import type { ChangedFile } from '../git/compare.ts';
import type { Git } from '../git/run.ts';
import type { Remover } from '../files/remove.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Mutex } from '../kernel/mutex.ts';
import type { Random } from '../kernel/random.ts';
import type { Store } from '../store/store.ts';

/** What a directory of the node is for. */
export type DirectoryKind = 'slot' | 'scratch' | 'aside' | 'mirror' | 'setup';

/**
 * making → ready → claimed → scrubbing → ready, by way of `priming` where its files change first; anything → removing. Only
 * a `claimed` slot (or one that was) can hold work. `kept`: a mirror, something aside, or what a set-up left.
 */
export type DirectoryState = 'making' | 'ready' | 'priming' | 'claimed' | 'scrubbing' | 'removing' | 'kept';

/** Which submodules are filled: none, those of the commit, or those in them, too. */
export type SubmodulePolicy = 'none' | 'shallow' | 'recursive';

/** What checkouts have for files in Git LFS: their pointers, or their contents. */
export type LfsPolicy = 'pointers' | 'fetch';

/** A place a task works in. Paths are absolute. */
export type Checkout = {
  readonly id: string;
  readonly kind: 'slot' | 'scratch';
  readonly projectId: string | null;
  readonly taskId: string;
  /** Where the agent works. */
  readonly path: string;
  readonly baseSha: string | null;
  readonly branch: string | null;
  /** Below `path`: not to be written by the agent, where the backend can deny it. Some may not exist. */
  readonly readOnlyPaths: readonly string[];
  /** Folder of the mirror that the checkout borrows objects from; to be granted read-only. */
  readonly borrowedObjects: string | null;
  /** Whether a warm slot was used. */
  readonly warm: boolean;
};

/** What a checkout holds, its objects in the mirror already. */
export type Inspected = {
  readonly baseSha: string;
  /** The agent's HEAD, or the base when that cannot be had. */
  readonly headSha: string;
  /** What Git takes for the tree of all files that are not ignored, and whether it is another than HEAD's. */
  readonly tree: string;
  readonly uncommitted: boolean;
  /** Commits that HEAD does not hold: other branches, stash entries, where a rebase began. */
  readonly extra: readonly Tip[];
  readonly notes: readonly string[];
  /** Whether files are left out because they are too much: only the checkout has them. */
  readonly tooMuch: boolean;
};

/** Everything of a checkout as commits of the mirror, named by no ref yet. */
export type Gathered = Inspected & {
  /** HEAD, or a commit of the node on top of it when files were not committed. */
  readonly finalSha: string;
};

/** What a task made, stored in the mirror. */
export type Collected = {
  readonly baseSha: string;
  readonly headSha: string;
  readonly resultRef: string;
  /** Commits from the base to the head, the one for uncommitted work included. */
  readonly commits: number;
  readonly files: readonly ChangedFile[];
  readonly insertions: number;
  readonly deletions: number;
  /** Whether the last commit was made by the node from files that were not committed. */
  readonly uncommitted: boolean;
  /** What a person should know: a broken `.git`, a half-done rebase, files that were left out. */
  readonly notes: readonly string[];
};

/** Work that was saved before its place was cleaned. */
export type Saved = { readonly id: string; readonly ref: string; readonly sha: string; readonly files: number };

/** What a clean-up did or would do. */
export type Reclaimed = {
  readonly id: string;
  readonly path: string;
  readonly kind: DirectoryKind;
  readonly bytes: number | null;
  readonly ageDays: number;
};

/** What every part of the slice works with. */
export type WorkspaceContext = {
  readonly dataDirectory: string;
  readonly store: Store;
  readonly git: Git;
  readonly remover: Remover;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly mutex: Mutex;
  /** Author of commits made in a checkout, and of those the node makes. */
  readonly identity: { readonly name: string; readonly email: string };
  readonly warmSlots: number;
  /** Resolves the names of servers; absent: the system does. */
  readonly lookup?: LookupFunction | undefined;
  /** What checkouts held when they were collected, by their ids, until they are given back. */
  readonly collected: Map<string, Gathered>;
  /** Runs work after the answer was given; its failure is logged. Once the node is `stopping` nothing more is begun. */
  readonly later: (work: () => Promise<void>) => void;
  /** Aborted when the node ends: work in the background stops where the next start can go on with it. */
  readonly stopping: AbortSignal;
};

/** Where a project's mirror lies. */
export const mirrorPath = (dataDirectory: string, projectId: string): string =>
  join(dataDirectory, 'mirrors', `${projectId}.git`);

/** The paths inside a slot. */
export const slotPaths = (slot: string) => ({
  tree: join(slot, 'tree'),
  nodeDir: join(slot, 'node.git'),
  index: join(slot, 'index'),
  copied: join(slot, 'copied.json'),
  caches: join(slot, 'caches.json'),
  modules: join(slot, 'modules'),
  lfs: join(slot, 'lfs.json'),
});

/** The branch of a task when nobody named one. */
export const taskBranch = (taskId: string): string => `orrery/${taskId}`;
