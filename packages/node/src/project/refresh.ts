import type { NodeBody } from '@orrery/protocol';
import { describeCommit, refreshMirror, type SourceHead } from '../git/mirror.ts';
import { userCall } from '../git/change/model.ts';
import { readCommittedFiles } from '../git/read-blobs.ts';
import type { Git } from '../git/run.ts';
import { inspectSource, type Source } from '../git/source.ts';
import { sourceStamp } from '../git/source-stamp.ts';
import type { Store } from '../store/store.ts';
import { mirrorPath } from '../workspace/index.ts';
import { hookNames, hookPath, type ProjectRow } from './model.ts';
import { updateProject } from './store.ts';

/** What a refresh saw. */
export type Refreshed = SourceHead & { readonly fetched: boolean };

/** Sources by project as they were when the mirror was last brought up to them. */
export type SeenSources = Map<string, { readonly stamp: string; readonly head: SourceHead }>;

const isHeadOf = (row: ProjectRow, head: SourceHead): boolean => head.sha === row.head_sha && head.branch === row.default_branch;

/** Brings the mirror of a project up to its source, and its row and notes when HEAD moved. */
export const refreshProject = async (
  { git, store, dataDirectory, seen }: { git: Git; store: Store; dataDirectory: string; seen: SeenSources },
  row: ProjectRow,
): Promise<Refreshed> => {
  const mirror = mirrorPath(dataDirectory, row.id);
  // Taken before Git is asked: a change in between gives another stamp the next time.
  const stamp = row.kind === 'url' ? null : await sourceStamp(row.source);
  const known = seen.get(row.id);
  if (stamp !== null && known?.stamp === stamp && isHeadOf(row, known.head)) return { ...known.head, fetched: false };
  const source =
    row.kind === 'url' ? await inspectSource(git, row.source) : { location: row.source, protocols: ['file'] as const };
  const head = await refreshMirror(git, mirror, source);
  if (stamp === null) seen.delete(row.id);
  else seen.set(row.id, { stamp, head: { sha: head.sha, branch: head.branch } });
  if (isHeadOf(row, head)) return head;
  const { notes, hooks } = await describeHead(git, mirror, { head, source: await inspectSource(git, row.source) });
  const body: NodeBody = { kind: 'project.changed', projectId: row.id };
  await store.transaction(async (tx) => {
    await updateProject(tx.db, row.id, {
      head_sha: head.sha,
      default_branch: head.branch,
      notes: JSON.stringify(notes),
      hooks: JSON.stringify(hooks),
    });
    await tx.append([{ taskId: null, turn: null, body }]);
  });
  return head;
};

/** What is worth knowing about the source at its HEAD, and which hooks that commit has. */
export const describeHead = async (
  git: Git,
  mirror: string,
  { head, source }: { head: SourceHead; source: Source },
): Promise<{ notes: string[]; hooks: string[] }> => {
  if (head.sha === null)
    return { notes: [...source.notes, 'it has no commit yet: tasks can start once there is one'], hooks: [] };
  const [shape, files, dirty] = await Promise.all([
    describeCommit(git, mirror, head.sha),
    readCommittedFiles(git, mirror, { commit: head.sha, paths: hookNames.map(hookPath) }),
    source.kind === 'repository' && !source.bare ? readUncommitted(git, source.location) : [],
  ]);
  const notes = [
    ...source.notes,
    ...(head.branch === null ? ['HEAD is detached: tasks start at that commit'] : []),
    ...shape,
    ...(dirty.length > 0
      ? [`uncommitted changes (${dirty.slice(0, 3).join(', ')}${dirty.length > 3 ? ' …' : ''}) are not part of tasks`]
      : []),
  ];
  return { notes, hooks: hookNames.filter((name) => files.some(({ path }) => path === hookPath(name))) };
};

/** Paths of the user's tree with uncommitted changes, untracked ones too; none for a bare repository. */
export const readUncommitted = async (git: Git, source: string): Promise<string[]> => {
  const { stdout, code } = await git.run({
    ...userCall(source),
    args: ['status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=all'],
    okCodes: [0, 128],
  });
  return code !== 0
    ? []
    : stdout
        .toString('utf8')
        .split('\0')
        .filter((line) => line !== '')
        .map((line) => line.slice(3));
};
