import type { Caller, ChangeSet, FileChange, LeftOut, OperationHandlers, TaskApplied, TaskDiff } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import { runsOfAttempt } from '../environment/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { attemptsOf, stagesOf } from './attempt-store.ts';
import { toAttempt, type TaskRow } from './model.ts';
import type { Tasks } from './service.ts';
import { updateTask } from './store.ts';

type ResultOf = { readonly taskId: string; readonly projectId: string; readonly baseSha: string; readonly headSha: string };

/** What the handlers need of the workspace: results live in the project's mirror. */
export type ResultDoor = {
  diff(result: ResultOf): Promise<TaskDiff>;
  changes(result: ResultOf): Promise<ChangeSet>;
  change(
    result: ResultOf,
    file: { readonly path: string; readonly oldPath: string | null; readonly whole: boolean },
  ): Promise<FileChange>;
  apply(
    asked: ResultOf & { readonly mode: 'branch' | 'tree'; readonly branch: string; readonly without: LeftOut },
  ): Promise<TaskApplied>;
};

type TaskOperations =
  | 'taskList'
  | 'taskAdd'
  | 'taskShow'
  | 'taskAttempts'
  | 'taskLog'
  | 'taskDiff'
  | 'taskChanges'
  | 'taskChange'
  | 'taskDescribe'
  | 'taskCancel'
  | 'taskRetry'
  | 'taskApply';

/** Handlers of the task operations. */
export const taskHandlers = (parts: {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly results: ResultDoor;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Throws unless this attached session lives and the caller speaks for it. */
  readonly checkAttached: (session: string, caller: Caller) => Promise<void>;
}): Pick<OperationHandlers, TaskOperations> => {
  const { store, tasks, results } = parts;
  return {
    taskList: ({ query }) => tasks.list(query),
    taskAdd: async ({ body, caller }) => {
      const origin = body.origin ?? { kind: 'api', by: caller.name };
      if (origin.kind === 'session') await parts.checkAttached(origin.by, caller);
      return tasks.add({ ...body, origin });
    },
    taskShow: ({ params }) => tasks.show(params.id),
    taskAttempts: async ({ params }) => {
      const task = await tasks.find(params.id);
      const rows = await attemptsOf(store.read, task.id);
      return {
        items: await Promise.all(rows.map(async (row) => toAttempt(row, await stagesOf(store.read, row.id)))),
        seq: store.seq(),
      };
    },
    taskLog: async ({ params, query }) => {
      const task = await tasks.find(params.id);
      const items = await store.ownEvents({ owner: task.id, after: query.after, limit: query.limit });
      const last = items.length === query.limit ? items.at(-1) : undefined;
      return { items: [...items], nextCursor: last?.sequence == null ? null : String(last.sequence), seq: store.seq() };
    },
    taskDescribe: async ({ params }) => {
      const task = await tasks.find(params.id);
      const attempts = await attemptsOf(store.read, task.id);
      const runs = (await Promise.all(attempts.map((attempt) => runsOfAttempt(store.read, attempt.id)))).flat();
      return { runs: runs.map((run) => ({ stage: `${run.stage} ${run.round}`, text: run.described })) };
    },
    taskDiff: async ({ params }) => results.diff(resultOf(await tasks.find(params.id))),
    taskChanges: async ({ params }) => results.changes(resultOf(await tasks.find(params.id))),
    taskChange: async ({ params, query: { path, oldPath = null, whole } }) =>
      results.change(resultOf(await tasks.find(params.id)), { path, oldPath, whole }),
    taskCancel: ({ params }) => tasks.cancel(params.id),
    taskRetry: ({ params, body }) => tasks.retry(params.id, body.requestId),
    taskApply: async ({ params, body }) => {
      const task = await tasks.find(params.id);
      const branch = body.branch ?? branchOf(task);
      const applied = await results.apply({ ...resultOf(task), mode: body.mode, branch, without: body.without });
      await store.transaction(async (tx) => {
        await updateTask(tx.db, task.id, { applied_at: parts.clock.nowMs() });
        await tx.append([
          { taskId: task.id, turn: null, body: { kind: 'task.applied', branch: applied.branch, headSha: applied.headSha } },
        ]);
      });
      return applied;
    },
  };
};

/** The branch that a result is brought into when nobody names one. */
export const branchOf = (task: TaskRow): string => (JSON.parse(task.intent) as { branch?: string }).branch ?? `orrery/${task.id}`;

/** The result of a task that has one; what to say when it has none. */
export const resultOf = (task: TaskRow): ResultOf => {
  if (task.project_id === null)
    throw new OrreryError('unsupported', `Task ${task.id} worked in a scratch folder.`, {
      rule: 'Only a task of a project has a change to show or apply.',
    });
  const result = task.result === null ? null : (JSON.parse(task.result) as { baseSha: string | null; headSha: string | null });
  if (result?.baseSha == null || result.headSha === null) {
    throw new OrreryError('not_found', `Task ${task.id} has no result (yet).`, {
      rule: `It is ${task.state}.`,
      fix: `orrery task show ${task.id}`,
    });
  }
  return { taskId: task.id, projectId: task.project_id, baseSha: result.baseSha, headSha: result.headSha };
};
