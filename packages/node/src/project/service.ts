import { OrreryError, type NodeBody, type Project } from '@orrery/protocol';
import { listCommittedTree, readTreeFiles, type CommittedTree, type TreeFile } from '../git/committed-tree.ts';
import { resolveCommit } from '../git/compare.ts';
import { createMutex } from '../kernel/mutex.ts';
import { mirrorPath } from '../workspace/index.ts';
import { addProject, type ProjectParts } from './add.ts';
import { readHooks, type CommitHooks } from './hooks.ts';
import { hookNames, raise, toProject, type HookName, type ProjectRow } from './model.ts';
import { findRow, nameTaken, resolveRow } from './resolve.ts';
import { readUncommitted, refreshProject, type Refreshed, type SeenSources } from './refresh.ts';
import { removeProject } from './remove.ts';
import { countTasks, listProjects, projectsByIds, updateProject } from './store.ts';

/** A project as other slices refer to it; `path` is where it was added from. */
export type ProjectRef = { readonly id: string; readonly name: string; readonly path: string };

/** Use cases of projects. */
export type Projects = {
  /** Adds a repository by path or URL; one that is known already is answered as it is. Rejects with `repository_unusable` and one sentence. */
  add(given: { readonly source: string; readonly name?: string }): Promise<Project>;
  show(reference: string): Promise<Project>;
  list(query: {
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<{ items: Project[]; nextCursor: string | null; seq: number }>;
  set(reference: string, change: { readonly name?: string }): Promise<Project>;
  /** Forgets a project; refused while tasks run, and with `salvage` false while results or saved work depend on it. Saved work stays in its mirror in any case. */
  remove(reference: string, options: { readonly salvage: boolean }): Promise<void>;
  /** The project of an id, name or path (of its root or a folder in it). Rejects with `not_found`. */
  resolve(reference: string): Promise<ProjectRef>;
  /** Ids and names of all. */
  names(): Promise<ReadonlySet<string>>;
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, ProjectRef>>;
  /** Brings the mirror up to its source. To be called before each task. */
  refresh(id: string): Promise<Refreshed>;
  /** The commit a task starts at: the named revision, else the source's HEAD. Rejects with `repository_unusable` or `unknown_name`. */
  resolveBase(id: string, base: string | null): Promise<string>;
  /** Hooks and settings of a commit, as plain blobs. An unreadable commit is an error, not "no hooks". */
  readHooks(id: string, baseSha: string, names?: readonly HookName[]): Promise<CommitHooks>;
  /** Every file below a folder of a commit ('.': all of it), as plain blobs. */
  listTree(id: string, at: { readonly commit: string; readonly folder: string }): Promise<CommittedTree>;
  /** Contents of such files, in their order. */
  readFiles(id: string, files: readonly TreeFile[]): AsyncIterable<Buffer>;
  /** Paths with uncommitted changes in the user's tree: they are not part of a task, and the person is told. */
  uncommitted(id: string): Promise<readonly string[]>;
};

/** All that there are. */
const EVERY = 1_000_000;

/** Makes the use cases of projects. */
export const createProjects = (parts: ProjectParts): Projects => {
  const mutex = createMutex();
  const seen: SeenSources = new Map();
  const { store, git, dataDirectory } = parts;
  const view = async (row: ProjectRow): Promise<Project> =>
    toProject(row, { seq: store.seq(), tasks: (await countTasks(store.read, [row.id])).get(row.id) ?? 0 });
  const find = (reference: string): Promise<ProjectRow> => findRow(store.read, reference);
  const refresh = (id: string): Promise<Refreshed> =>
    find(id).then((row) => mutex.run(`mirror:${row.id}`, () => refreshProject({ ...parts, seen }, row)));
  return {
    add: (given) => mutex.run('add', async () => view(await addProject(parts, given))),
    show: async (reference) => view(await find(reference)),
    list: async ({ limit, cursor }) => {
      const rows = await listProjects(store.read, { after: cursor, limit });
      const counts = await countTasks(
        store.read,
        rows.map(({ id }) => id),
      );
      const seq = store.seq();
      return {
        items: rows.map((row) => toProject(row, { seq, tasks: counts.get(row.id) ?? 0 })),
        nextCursor: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
        seq,
      };
    },
    set: async (reference, change) => {
      const row = await find(reference);
      if (change.name !== undefined && change.name !== row.name) await renameProject(parts, row, change.name);
      return view(await find(row.id));
    },
    remove: async (reference, options) => removeProject(parts, await find(reference), options),
    resolve: async (reference) => toRef(await resolveRow(store.read, reference)),
    names: async () => new Set((await listProjects(store.read, { limit: EVERY })).flatMap(({ id, name }) => [id, name])),
    byIds: async (ids) => new Map((await projectsByIds(store.read, ids)).map((row) => [row.id, toRef(row)])),
    refresh,
    resolveBase: async (id, base) => {
      const row = await find(id);
      // What a refresh recorded was fetched before it was recorded: Git need not be asked again.
      if (base === null && row.head_sha !== null) return row.head_sha;
      const sha = await resolveCommit(git, mirrorPath(dataDirectory, row.id), base ?? 'HEAD');
      return sha ?? raise(noBase(row, base));
    },
    readHooks: (id, baseSha, names = hookNames) => readHooks(git, mirrorPath(dataDirectory, id), { baseSha, names }),
    listTree: (id, at) => listCommittedTree(git, mirrorPath(dataDirectory, id), at),
    readFiles: (id, files) => readTreeFiles(git, mirrorPath(dataDirectory, id), files),
    uncommitted: async (id) => {
      const row = await find(id);
      return row.kind === 'url' ? [] : readUncommitted(git, row.source);
    },
  };
};

const toRef = (row: ProjectRow): ProjectRef => ({ id: row.id, name: row.name, path: row.source });

const renameProject = async ({ store }: ProjectParts, row: ProjectRow, name: string): Promise<void> => {
  const body: NodeBody = { kind: 'project.changed', projectId: row.id };
  await store.transaction(async (tx) => {
    const other = await tx.db
      .selectFrom('project')
      .select('id')
      .where('name', '=', name)
      .where('removed_at', 'is', null)
      .executeTakeFirst();
    if (other !== undefined) throw nameTaken(name);
    await updateProject(tx.db, row.id, { name });
    await tx.append([{ taskId: null, turn: null, body }]);
  });
};

const noBase = (row: ProjectRow, base: string | null): OrreryError =>
  base === null
    ? new OrreryError('repository_unusable', `${row.name} has no commit yet.`, {
        rule: 'A task starts at a commit.',
        fix: `git -C "${row.source}" commit --allow-empty -m "First commit"`,
      })
    : new OrreryError('unknown_name', `${row.name} has no commit "${base.slice(0, 200)}".`, {
        rule: 'A base is a branch, tag or commit of the repository.',
        fix: row.kind === 'url' ? undefined : `git -C "${row.source}" branch --all`,
      });
