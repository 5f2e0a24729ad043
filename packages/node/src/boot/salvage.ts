import { appendAudit } from '../audit/index.ts';
import { findEnvironment, namedById } from '../environment/index.ts';
import { findTask } from '../task/index.ts';
import type { salvageHandlers } from '../workspace/index.ts';
import { clock, type Parts } from './parts.ts';

/** What the salvage operations need, from the slices that are really there. */
export const salvageParts = (parts: Parts): Parameters<typeof salvageHandlers>[0] => {
  const { store, git, paths, changes, archives, workspace } = parts;
  return {
    ...{ store, git, clock, changes, archives, dataDirectory: paths.data },
    reclaim: workspace.reclaimSalvage,
    whose: async (id) => {
      const named = await namedById(store.read, id);
      if (named !== null) return { projectId: named.project_id, taskId: null };
      const taskId = (await findEnvironment(store.read, id))?.task_id ?? null;
      return taskId === null ? null : { projectId: (await findTask(store.read, taskId))?.project_id ?? null, taskId };
    },
    deleted: async ({ actor, id, kind }) => {
      const record = { actor, action: 'salvage.delete', subject: id, outcome: 'done', detail: { kind } } as const;
      await store.transaction((tx) => appendAudit(tx.db, record, clock.nowMs()));
    },
  };
};
