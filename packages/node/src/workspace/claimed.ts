import { OrreryError } from '@orrery/protocol/errors';
import { checkIdentity } from './directories.ts';
import type { WorkspaceContext } from './model.ts';
import { findDirectory, type DirectoryRow } from './store.ts';

/** The row of a checkout of a project while a task has it. */
export type ClaimedRow = DirectoryRow & { project_id: string; base_sha: string; task_id: string };

/** The row a checkout's id names, if it is still that task's. */
export const rowOf = async (context: WorkspaceContext, id: string): Promise<DirectoryRow | undefined> => {
  const [directory = '', taskId = ''] = id.split(':');
  const row = await findDirectory(context.store.read, directory);
  return row?.state === 'claimed' && row.task_id === taskId ? row : undefined;
};

/** Finds the row of a checkout that a task has. Rejects with `not_found`, or `path_refused` when its folder is not what was made. */
export const claimedRow = async (context: WorkspaceContext, id: string): Promise<ClaimedRow> => {
  const row = await rowOf(context, id);
  if (row === undefined || row.project_id === null || row.base_sha === null || row.task_id === null) {
    throw new OrreryError('not_found', `There is no checkout ${id} in use.`, {
      rule: 'It was released, or never was a checkout of a project.',
    });
  }
  checkIdentity(row);
  return { ...row, project_id: row.project_id, base_sha: row.base_sha, task_id: row.task_id };
};
