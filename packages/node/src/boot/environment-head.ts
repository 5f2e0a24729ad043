// The files of an environment as a commit that can be brought elsewhere.

import { OrreryError } from '@orrery/protocol';
import { whyBusy, type Environments, type NamedRow } from '../environment/index.ts';
import { isAncestor } from '../git/publish.ts';
import { preparedOf } from '../run/environments/place.ts';
import { isActive, liveSessions, openTurns } from '../session/index.ts';
import { ids, type Parts } from './parts.ts';

type HeadAsked = {
  readonly id: string;
  /** Message of the commit for what is not committed. */
  readonly title: string;
  /** What was brought elsewhere last; null: nothing was. */
  readonly before: string | null;
};

/** What an environment holds now as a commit; nothing in it is changed. Rejects with `conflict` while a turn runs there. */
export const environmentHead = async (
  parts: Parts,
  environments: Environments,
  { id, title, before }: HeadAsked,
): Promise<{ readonly baseSha: string; readonly headSha: string }> => {
  const row = await environments.brought(id);
  const busy = whyBusy(row);
  if (busy !== null) throw busy;
  await checkStill(parts, row);
  const prepared = preparedOf(row);
  if (prepared === null)
    throw new OrreryError('not_found', `The environment ${row.name} has no files yet.`, {
      rule: 'Files are taken once it is made.',
      fix: `orrery env show ${row.name}`,
    });
  const named = { owner: row.id, name: ids('checkpoint') };
  const point = await parts.workspace.checkpoint(prepared.place.checkoutId, named);
  const headSha = await commitOf(parts, { projectId: row.project_id, point, title, before });
  await parts.workspace.dropCheckpoint(row.project_id, point);
  return { baseSha: prepared.baseSha, headSha };
};

/** Files are read between the turns of those who work there. */
const checkStill = async ({ store }: Parts, row: NamedRow): Promise<void> => {
  for (const session of await liveSessions(store.read)) {
    if (session.environment_id !== row.id || !(await openTurns(store.read, session.id)).some(isActive)) continue;
    throw new OrreryError('conflict', `A turn runs in the session ${session.name}.`, {
      rule: 'The files of an environment are taken between the turns of its sessions.',
      fix: `orrery session stop ${session.name}`,
    });
  }
};

/**
 * The agent's commits, and one more for files that it did not commit. Where only such files changed since they were brought elsewhere,
 * that one goes on top of what was brought, so that nobody's view of a branch is replaced; the same files are the same commit.
 */
const commitOf = async (
  { git, workspace }: Parts,
  {
    projectId,
    point,
    title,
    before,
  }: {
    readonly projectId: string;
    readonly point: { readonly sha: string; readonly headSha: string };
    readonly title: string;
    readonly before: string | null;
  },
): Promise<string> => {
  if (point.sha === point.headSha) return point.headSha;
  const gitDir = workspace.mirrorOf(projectId);
  const treeOf = (sha: string): Promise<string> => git.text({ gitDir, args: ['rev-parse', '--verify', `${sha}^{tree}`] });
  const tree = await treeOf(point.sha);
  const goesOn = before !== null && (await isAncestor(git, { gitDir }, { older: point.headSha, newer: before }));
  if (goesOn && (await treeOf(before)) === tree) return before;
  const args = ['commit-tree', tree, '-p', goesOn ? before : point.headSha, '-F', '-'];
  const identity = { name: 'orrery', email: 'orrery@localhost' };
  return git.text({ gitDir, readOnly: false, identity, args, input: `${title}\n` });
};
