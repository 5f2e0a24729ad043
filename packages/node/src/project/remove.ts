import { OrreryError, type NodeBody } from '@orrery/protocol';
import type { ProjectParts } from './add.ts';
import type { ProjectRow } from './model.ts';
import { countUnapplied, environmentNames, openTasks, updateProject } from './store.ts';

/**
 * Forgets a project. Its slots go; its mirror goes only when no result and no saved work is in it. Rejects with `busy`
 * while tasks or checkouts are in use, `not_empty` while it has environments of their own, and with `unsaved_work` while something depends on it and `salvage` is false.
 */
export const removeProject = async (
  { store, workspace, clock }: ProjectParts,
  row: ProjectRow,
  { salvage }: { salvage: boolean },
): Promise<void> => {
  const open = await openTasks(store.read, row.id);
  if (open > 0)
    throw new OrreryError('busy', `${row.name} has ${open} task${open === 1 ? '' : 's'} that did not end yet.`, {
      rule: 'A project is forgotten when nothing works on it.',
      fix: `orrery task list --project ${row.name}`,
    });
  refuseEnvironments(row, await environmentNames(store.read, row.id));
  const { results, salvage: saved } = await countUnapplied(store.read, row.id);
  if (results + saved > 0 && !salvage) {
    throw new OrreryError(
      'unsaved_work',
      `${row.name} has ${results} result${results === 1 ? '' : 's'} that were not applied and ${saved} saved state${saved === 1 ? '' : 's'}.`,
      {
        rule: 'What only the node has is not forgotten by accident.',
        fix: `Keep it in the mirror and forget the project: orrery project remove ${row.name} --salvage`,
        details: { results, salvage: saved },
      },
    );
  }
  const { inUse } = await workspace.forgetProject(row.id, { mirror: results + saved === 0 });
  if (inUse > 0)
    throw new OrreryError('busy', `${row.name} has ${inUse} checkout${inUse === 1 ? '' : 's'} in use.`, {
      rule: 'A project is forgotten when nothing works on it.',
      fix: 'Try again when its tasks have ended.',
    });
  const body: NodeBody = { kind: 'project.removed', projectId: row.id };
  await store.transaction(async (tx) => {
    await updateProject(tx.db, row.id, { removed_at: clock.nowMs() });
    await tx.append([{ taskId: null, turn: null, body }]);
  });
};

const refuseEnvironments = ({ name }: ProjectRow, environments: readonly string[]): void => {
  if (environments.length === 0) return;
  throw new OrreryError(
    'not_empty',
    `${name} has ${environments.length} environment${environments.length === 1 ? '' : 's'} of its own.`,
    {
      rule: 'They are not taken away along with a project.',
      fix: `orrery env delete ${environments[0]}`,
      details: { environments },
    },
  );
};
