import type { Caller, OperationHandlers, Salvage } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import { compareTrees } from '../git/compare.ts';
import type { Git } from '../git/run.ts';
import { toInstant, type Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import type { Archive, Archives } from './archives.ts';
import { mirrorPath } from './model.ts';
import type { RepositoryChanges } from './repository-changes.ts';
import { savedSince } from './results.ts';
import { dropSalvage, type ReclaimedSalvage } from './retention.ts';
import { findSalvage, listSalvage, projectOf, type SalvageRow } from './store.ts';

/** What the salvage operations need. */
export type SalvageParts = {
  readonly store: Store;
  readonly git: Git;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly dataDirectory: string;
  readonly changes: RepositoryChanges;
  readonly archives: Archives;
  /** Whose an environment was; null: nobody knows any more. */
  readonly whose: (
    environmentId: string,
  ) => Promise<{ readonly projectId: string | null; readonly taskId: string | null } | null>;
  readonly reclaim: (options: { readonly dryRun: boolean; readonly days: number }) => Promise<readonly ReclaimedSalvage[]>;
  /** Puts on record who deleted what. */
  readonly deleted: (what: { readonly actor: string; readonly id: string; readonly kind: Salvage['kind'] }) => Promise<void>;
};

type SalvageOperations = 'salvageList' | 'salvageShow' | 'salvageRestore' | 'salvageDelete' | 'salvagePrune';

const DAY_MS = 86_400_000;
const isArchive = (id: string): boolean => id.startsWith('env_');

/** Handlers of the salvage operations. */
export const salvageHandlers = (parts: SalvageParts): Pick<OperationHandlers, SalvageOperations> => {
  const { store, archives } = parts;
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
      const kept = query.cursor === undefined ? await archivesOf(parts, project?.id) : [];
      return {
        items: [...kept, ...items],
        nextCursor: rows.length === query.limit ? (rows.at(-1)?.id ?? null) : null,
        seq: store.seq(),
      };
    },
    salvageShow: ({ params }) => (isArchive(params.id) ? showArchive(parts, params.id) : showCommit(parts, params.id)),
    salvageRestore: ({ params, body, caller }) =>
      isArchive(params.id) ? unpackArchive(parts, params.id, { body, caller }) : restoreCommit(parts, params.id, body),
    salvageDelete: async ({ params: { id }, caller }) => {
      if (isArchive(id)) await archives.remove(id);
      else await dropSalvage(parts, await rowOf(store, id));
      await parts.deleted({ actor: `token:${caller.name}`, id, kind: isArchive(id) ? 'archive' : 'commit' });
      return { ok: true };
    },
    salvagePrune: async ({ body, caller }) => {
      const { dryRun, olderThanMs } = body;
      const commits = await parts.reclaim({ dryRun, days: olderThanMs / DAY_MS });
      const old = (await archives.list()).filter(({ savedAtMs }) => parts.clock.nowMs() - savedAtMs >= olderThanMs);
      if (!dryRun) for (const { id } of old) await archives.remove(id);
      const items = [
        ...commits.map(({ id, ref, savedAtMs }) => ({ id, kind: 'commit' as const, ref, bytes: null, savedAtMs })),
        ...old.map(({ id, bytes, savedAtMs }) => ({ id, kind: 'archive' as const, ref: null, bytes, savedAtMs })),
      ];
      if (!dryRun) for (const { id, kind } of items) await parts.deleted({ actor: `token:${caller.name}`, id, kind });
      return { dryRun, items: items.map(({ savedAtMs, ...item }) => ({ ...item, createdAt: toInstant(savedAtMs) })) };
    },
  };
};

const showCommit = async (parts: SalvageParts, id: string): Promise<Salvage & { paths: string[] }> => {
  const row = await rowOf(parts.store, id);
  const mirror = mirrorPath(parts.dataDirectory, row.project_id);
  const { files } = await compareTrees(parts.git, mirror, {
    from: await savedSince(parts.git, mirror, { taskId: row.task_id, sha: row.sha }),
    to: row.sha,
  });
  return { ...(await toSalvage(parts.store, row)), paths: files.map(({ path }) => path) };
};

const showArchive = async (parts: SalvageParts, id: string): Promise<Salvage & { paths: string[] }> => {
  const archive = await parts.archives.find(id);
  const { count, paths } = await parts.archives.names(id);
  return { ...(await archiveToSalvage(parts, archive)), files: count, paths: [...paths] };
};

type Restored = { id: string; branch: string | null; sha: string | null; folder: string | null };

const restoreCommit = async (
  parts: SalvageParts,
  id: string,
  body: { readonly branch?: string; readonly folder?: string },
): Promise<Restored> => {
  const row = await rowOf(parts.store, id);
  if (body.folder !== undefined)
    throw wrongWay('A saved commit comes back as a branch.', `orrery salvage restore ${id} --branch NAME`);
  const project = await projectOf(parts.store.read, row.project_id);
  const mirror = mirrorPath(parts.dataDirectory, row.project_id);
  const branch = body.branch ?? row.ref.replace('refs/orrery/', 'orrery/');
  if (project?.kind !== 'repository') {
    throw new OrreryError('unsupported', 'The project was added by a URL: there is no repository here to make a branch in.', {
      rule: `It is kept as ${row.ref} in ${mirror}.`,
      fix: `git fetch "${mirror}" ${row.ref}:refs/heads/${branch}`,
    });
  }
  await parts.changes.branch({ projectId: row.project_id, mirror, sha: row.sha, repository: project.source }, branch);
  return { id: row.id, branch, sha: row.sha, folder: null };
};

const unpackArchive = async (
  { archives }: SalvageParts,
  id: string,
  { body, caller }: { readonly body: { readonly branch?: string; readonly folder?: string }; readonly caller: Caller },
): Promise<Restored> => {
  await archives.find(id);
  const { folder } = body;
  if (folder === undefined || body.branch !== undefined)
    throw wrongWay('An archive holds files without a commit.', `orrery salvage restore ${id} --folder FOLDER`);
  // Files appear where the caller says, as the user of the node: that is for who owns it.
  if (caller.scope !== 'owner')
    throw new OrreryError('forbidden', `The token "${caller.name}" may not do this.`, {
      rule: 'An archive is unpacked by the owner.',
      fix: 'orrery token create --scope owner NAME',
    });
  await archives.unpack(id, folder);
  return { id, branch: null, sha: null, folder };
};

const wrongWay = (message: string, fix: string): OrreryError =>
  new OrreryError('invalid_input', message, { rule: 'A commit is restored as a branch, an archive into a folder.', fix });

const archivesOf = async (parts: SalvageParts, projectId: string | undefined): Promise<Salvage[]> => {
  const all = await Promise.all((await parts.archives.list()).map((archive) => archiveToSalvage(parts, archive)));
  return all.filter((one) => projectId === undefined || one.projectId === projectId);
};

const archiveToSalvage = async ({ store, whose }: SalvageParts, { id, bytes, savedAtMs }: Archive): Promise<Salvage> => {
  const { projectId, taskId } = (await whose(id)) ?? { projectId: null, taskId: null };
  const project = projectId === null ? undefined : await projectOf(store.read, projectId);
  return {
    id,
    kind: 'archive',
    projectId,
    projectName: project?.name ?? '(unknown)',
    taskId,
    ref: null,
    sha: null,
    reason: 'its place was left, and nobody came back to it',
    files: null,
    bytes,
    createdAt: toInstant(savedAtMs),
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
  kind: 'commit',
  projectId: row.project_id,
  projectName: (await projectOf(store.read, row.project_id))?.name ?? '(removed)',
  taskId: row.task_id,
  ref: row.ref,
  sha: row.sha,
  reason: row.reason,
  files: row.files,
  bytes: null,
  createdAt: toInstant(row.created_at),
});
