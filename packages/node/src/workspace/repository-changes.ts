import { bringIntoTree, type BroughtIn } from '../git/bring-in.ts';
import type { Change, ChangeJournal, ChangePhase, ChangeTools } from '../git/change/model.ts';
import { stagePath } from '../git/change/model.ts';
import { settleChange } from '../git/change/settle.ts';
import { publishBranch, type BranchOutcome, type Publish } from '../git/publish.ts';
import type { Git } from '../git/run.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Store } from '../store/store.ts';
import type { RepositoryChangeTable } from '../store/tables.ts';

/** The one way in which the node changes a repository of the user's. */
export type RepositoryChanges = {
  /** Makes or moves forward a branch that is not checked out. Rejects as `publishBranch` does. */
  branch(publish: Publish, branch: string): Promise<BranchOutcome>;
  /** Brings a commit into the checked-out branch and its files. Rejects as `bringIntoTree` does. */
  tree(publish: Publish, by: { readonly message: string; readonly fallback: string }): Promise<BroughtIn>;
  /**
   * Brings to their end the changes that a node which ended left. Never rejects: what cannot be settled now (a disk that is
   * not there) stays recorded. Answers how many were settled, and the repositories that wait.
   */
  recover(): Promise<{ readonly settled: number; readonly waiting: readonly string[] }>;
};

/** What it is made of. `step` is called before everything that a crash could come after: tests end there. */
export type RepositoryChangesParts = {
  readonly store: Store;
  readonly git: Git;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  readonly step?: () => Promise<void>;
};

/** Makes it. Changes of one repository come one after the other, each after what an earlier one left was settled. */
export const createRepositoryChanges = ({
  store,
  git,
  clock,
  log,
  step = async () => undefined,
}: RepositoryChangesParts): RepositoryChanges => {
  const mutex = createMutex();
  const tools: ChangeTools = { git, step, journal: createJournal(store, clock) };
  const settle = async (change: Change): Promise<void> => {
    const { outcome, left } = await settleChange(tools, change);
    log.info('repository.change.settled', { id: change.id, projectId: change.projectId, outcome, left: left.length });
  };
  const alone = <T>(repository: string, work: () => Promise<T>): Promise<T> =>
    mutex.run(repository, async () => {
      for (const left of await listChanges(store, repository)) await settle(left);
      return work();
    });
  return {
    branch: (publish, branch) => alone(publish.repository, () => publishBranch(tools, publish, branch)),
    tree: (publish, by) => alone(publish.repository, () => bringIntoTree(tools, publish, by)),
    recover: async () => {
      const waiting: string[] = [];
      let settled = 0;
      for (const change of await listChanges(store)) {
        try {
          await mutex.run(change.repository, () => settle(change));
          settled++;
        } catch (thrown) {
          log.warn('repository.change.waits', { id: change.id, projectId: change.projectId, ...errorFields(thrown) });
          waiting.push(change.repository);
        }
      }
      return { settled, waiting };
    },
  };
};

const createJournal = (store: Store, clock: Pick<Clock, 'nowMs'>): ChangeJournal => ({
  begin: (change) =>
    store.transaction(async (tx) => {
      await tx.db.insertInto('repository_change').values(toRow(change, clock.nowMs())).execute();
    }),
  update: (id, { old, target, phase, stage }) =>
    store.transaction(async (tx) => {
      const next = {
        ...(old === undefined ? {} : { old_sha: old }),
        ...(target === undefined ? {} : { target_sha: target }),
        ...(phase === undefined ? {} : { phase }),
        ...(stage === undefined ? {} : { stage_device: stage?.device ?? null, stage_inode: stage?.inode ?? null }),
      };
      await tx.db.updateTable('repository_change').set(next).where('id', '=', id).execute();
    }),
  end: (id) =>
    store.transaction(async (tx) => {
      await tx.db.deleteFrom('repository_change').where('id', '=', id).execute();
    }),
});

const toRow = (change: Change, nowMs: number): RepositoryChangeTable => ({
  id: change.id,
  project_id: change.projectId,
  repository: change.repository,
  git_dir: change.gitDir,
  common_dir: change.commonDir,
  branch: change.branch,
  tree: change.tree ? 1 : 0,
  old_sha: change.old,
  target_sha: change.target,
  phase: change.phase,
  stage_device: change.stage?.device ?? null,
  stage_inode: change.stage?.inode ?? null,
  created_at: nowMs,
});

/** Changes that have not come to their end, oldest first. */
const listChanges = async (store: Store, repository?: string): Promise<Change[]> => {
  let query = store.read.selectFrom('repository_change').selectAll().orderBy('created_at').orderBy('id');
  if (repository !== undefined) query = query.where('repository', '=', repository);
  return (await query.execute()).map((row) => ({
    id: row.id,
    projectId: row.project_id,
    repository: row.repository,
    gitDir: row.git_dir,
    commonDir: row.common_dir,
    branch: row.branch,
    tree: row.tree === 1,
    old: row.old_sha,
    target: row.target_sha,
    phase: row.phase as ChangePhase,
    stage:
      row.stage_device === null || row.stage_inode === null
        ? null
        : { path: stagePath({ gitDir: row.git_dir, id: row.id }), device: row.stage_device, inode: row.stage_inode },
  }));
};
