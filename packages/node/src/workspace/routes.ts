import type { OperationHandlers, Salvage } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import { compareTrees } from '../git/compare.ts';
import type { Git } from '../git/run.ts';
import { toInstant } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { mirrorPath } from './model.ts';
import type { RepositoryChanges } from './repository-changes.ts';
import { savedSince } from './results.ts';
import { findSalvage, listSalvage, projectOf, type SalvageRow } from './store.ts';

/** What the salvage operations need. */
export type SalvageParts = {
  readonly store: Store;
  readonly git: Git;
  readonly dataDirectory: string;
  readonly changes: RepositoryChanges;
};

/** Handlers of the salvage operations. */
export const salvageHandlers = (
  parts: SalvageParts,
): Pick<OperationHandlers, 'salvageList' | 'salvageShow' | 'salvageRestore'> => {
  const { store } = parts;
  return {
    salvageList: async ({ query }) => {
      const project = query.project === undefined ? undefined : await projectOf(store.read, query.project);
      if (query.project !== undefined && project === undefined)
        throw new OrreryError('not_found', `There is no project ${query.project}.`, {
          rule: 'A project is named here by its id.',
          fix: 'orrery project list',
        });
      const rows = await listSalvage(store.read, { projectId: project?.id, before: query.cursor, limit: query.limit });
      const items = await Promise.all(rows.map((row) => toSalvage(store, row)));
      return { items, nextCursor: rows.length === query.limit ? (rows.at(-1)?.id ?? null) : null, seq: store.seq() };
    },
    salvageShow: async ({ params }) => {
      const row = await rowOf(store, params.id);
      const mirror = mirrorPath(parts.dataDirectory, row.project_id);
      const { files } = await compareTrees(parts.git, mirror, {
        from: await savedSince(parts.git, mirror, { taskId: row.task_id, sha: row.sha }),
        to: row.sha,
      });
      return { ...(await toSalvage(store, row)), paths: files.map(({ path }) => path) };
    },
    salvageRestore: async ({ params, body }) => {
      const row = await rowOf(store, params.id);
      const project = await projectOf(store.read, row.project_id);
      const mirror = mirrorPath(parts.dataDirectory, row.project_id);
      const branch = body.branch ?? row.ref.replace('refs/orrery/', 'orrery/');
      if (project?.kind !== 'repository') {
        throw new OrreryError('unsupported', 'The project was added by a URL: there is no repository here to make a branch in.', {
          rule: `It is kept as ${row.ref} in ${mirror}.`,
          fix: `git fetch "${mirror}" ${row.ref}:refs/heads/${branch}`,
        });
      }
      await parts.changes.branch({ projectId: row.project_id, mirror, sha: row.sha, repository: project.source }, branch);
      return { id: row.id, branch, sha: row.sha };
    },
  };
};

const rowOf = async (store: Store, id: string): Promise<SalvageRow> => {
  const row = await findSalvage(store.read, id);
  if (row === undefined)
    throw new OrreryError('not_found', `There is no saved work ${id.slice(0, 60)}.`, {
      rule: 'Saved work is named by its whole id.',
      fix: 'orrery salvage list',
    });
  return row;
};

const toSalvage = async (store: Store, row: SalvageRow): Promise<Salvage> => ({
  id: row.id,
  projectId: row.project_id,
  projectName: (await projectOf(store.read, row.project_id))?.name ?? '(removed)',
  taskId: row.task_id,
  ref: row.ref,
  sha: row.sha,
  reason: row.reason,
  files: row.files,
  createdAt: toInstant(row.created_at),
});
