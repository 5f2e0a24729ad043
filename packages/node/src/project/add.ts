import { OrreryError, type NodeBody } from '@orrery/protocol';
import { isInside } from '../files/remove.ts';
import { makeMirror, refreshMirror } from '../git/mirror.ts';
import type { Git } from '../git/run.ts';
import { inspectSource, type Source } from '../git/source.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import { mirrorPath, type Workspace } from '../workspace/index.ts';
import { nameFor, type ProjectRow } from './model.ts';
import { describeHead } from './refresh.ts';
import { freeName, nameTaken } from './resolve.ts';
import { findProject, insertProject, takenNames } from './store.ts';

/** What the project slice is made of. */
export type ProjectParts = {
  readonly store: Store;
  readonly git: Git;
  readonly dataDirectory: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly workspace: Pick<Workspace, 'makeDirectory' | 'keepDirectory' | 'forgetProject'>;
};

/** Adds a repository, or answers the project that it is already. A mirror that could not be filled is taken away again. */
export const addProject = async (
  parts: ProjectParts,
  { source: given, name }: { source: string; name?: string },
): Promise<ProjectRow> => {
  const { store, git, dataDirectory, workspace } = parts;
  const source = await inspectSource(git, given);
  if (
    source.kind === 'repository' &&
    (source.location === dataDirectory || isInside(source.location, dataDirectory) || isInside(dataDirectory, source.location))
  ) {
    throw new OrreryError('path_refused', `${source.location} and the data directory of the node lie in each other.`, {
      rule: 'What the node makes and what it works on are apart.',
      fix: 'Move the data directory: ORRERY_DATA=<path>',
    });
  }
  const known = await findProject(store.read, source.location);
  if (known !== undefined) return known;
  const taken = await takenNames(store.read);
  if (name !== undefined && taken.has(name)) throw nameTaken(name);
  const id = parts.ids('project');
  const directory = await workspace.makeDirectory({ kind: 'mirror', path: mirrorPath(dataDirectory, id), projectId: id });
  try {
    const row = await fillMirror(parts, { id, source, name: name ?? freeName(nameFor(source.location), taken) });
    const body: NodeBody = { kind: 'project.added', projectId: id };
    await store.transaction(async (tx) => {
      await insertProject(tx.db, row);
      await tx.append([{ taskId: null, turn: null, body }]);
    });
    await workspace.keepDirectory(directory.id);
    return row;
  } catch (thrown) {
    await workspace.forgetProject(id, { mirror: true });
    throw thrown;
  }
};

const fillMirror = async (
  { git, dataDirectory, clock }: { git: Git; dataDirectory: string; clock: Pick<Clock, 'nowMs'> },
  { id, source, name }: { id: string; source: Source; name: string },
): Promise<ProjectRow> => {
  const mirror = mirrorPath(dataDirectory, id);
  await makeMirror(mirror);
  const head = await refreshMirror(git, mirror, source);
  const { notes, hooks } = await describeHead(git, mirror, { head, source });
  return {
    id,
    name,
    source: source.location,
    kind: source.kind,
    mirror,
    default_branch: head.branch,
    head_sha: head.sha,
    notes: JSON.stringify(notes),
    hooks: JSON.stringify(hooks),
    removed_at: null,
    created_at: clock.nowMs(),
  };
};
