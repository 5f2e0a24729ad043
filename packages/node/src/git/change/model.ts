// Glossary. A change is what the node does in a repository of the user's: a branch that is set, and with `tree` also the
// checked-out files. Its stage is a folder that the node makes in the repository's Git directory under the change's own
// name: whatever Git itself writes goes there, so that a Git command that is ended in the middle leaves nothing anywhere
// else. The journal is the record of a change in the node's store, written before each step that shows in the repository.
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { OwnedDirectory } from '../../files/remove.ts';
import { GIT_WRITE_MS } from '../../kernel/limits.ts';
import type { Git, GitCall } from '../run.ts';

/**
 * preparing: nothing but locks and the stage is there → moving: files go one by one → moved: files and objects are there,
 * index and branch follow. A change that is `moved` is finished whatever happens, any other one is taken back.
 */
export type ChangePhase = 'preparing' | 'moving' | 'moved';

/** One change as the journal has it. Paths are absolute. */
export type Change = {
  /** Unguessable: what has this name in the repository is the node's. */
  readonly id: string;
  readonly projectId: string;
  readonly repository: string;
  /** Git directory of the work tree, and the one that all work trees share. */
  readonly gitDir: string;
  readonly commonDir: string;
  readonly branch: string;
  readonly tree: boolean;
  /** The branch's commit before; null when it is made. */
  readonly old: string | null;
  /** The commit after, once it is known. */
  readonly target: string | null;
  readonly phase: ChangePhase;
  readonly stage: OwnedDirectory | null;
};

/** Where changes are recorded. Each call resolves when it is durable. */
export type ChangeJournal = {
  begin(change: Change): Promise<void>;
  update(id: string, next: Pick<Partial<Change>, 'old' | 'target' | 'phase' | 'stage'>): Promise<void>;
  end(id: string): Promise<void>;
};

/** What changes are made with. `step` is called before each thing that a crash could come after; tests die there. */
export type ChangeTools = { readonly git: Git; readonly journal: ChangeJournal; readonly step: () => Promise<void> };

/** The call settings of every command on the user's repository: its own configuration counts, hooks stay off. */
export const userCall = (repository: string): Omit<GitCall, 'args'> => ({
  profile: 'user',
  cwd: repository,
  timeoutMs: GIT_WRITE_MS,
});

/** The call settings of a command whose new objects go to the stage. */
export const stagedCall = (change: Change): Omit<GitCall, 'args'> => ({
  ...userCall(change.repository),
  objectDirectory: stagePaths(change).objects,
  alternates: [join(change.commonDir, 'objects')],
  readOnly: false,
});

/** The folder that a change stages in. */
export const stagePath = ({ gitDir, id }: Pick<Change, 'gitDir' | 'id'>): string => join(gitDir, `orrery-${id}`);

/** What is in a stage. */
export const stagePaths = (change: Change) => {
  const stage = stagePath(change);
  return {
    stage,
    objects: join(stage, 'objects'),
    /** The new index, and the files as they will be. */
    index: join(stage, 'index'),
    files: join(stage, 'files'),
    /** Files that were replaced or deleted, by their place in the list of moves. */
    aside: join(stage, 'aside'),
    moves: join(stage, 'moves.json'),
    /** The same files as the two locks while they are held: that proves whose the locks are. */
    indexMarker: join(stage, 'index.marker'),
    refMarker: join(stage, 'ref.marker'),
  };
};

/** The locks that Git itself looks for, and what they guard. */
export const lockPaths = ({ gitDir, commonDir, branch }: Pick<Change, 'gitDir' | 'commonDir' | 'branch'>) => ({
  index: join(gitDir, 'index'),
  indexLock: join(gitDir, 'index.lock'),
  ref: join(commonDir, 'refs/heads', branch),
  refLock: join(commonDir, 'refs/heads', `${branch}.lock`),
});

/** The one refusal of a change for what another program does at the same time. */
export const busyRepository = (what: string, lock: string): OrreryError =>
  new OrreryError('conflict', `${what}: ${lock} is there.`, {
    rule: 'A lock that another program holds is never taken from it.',
    fix: 'Wait until that command has ended; if none runs, look at the lock and remove it by hand.',
  });
