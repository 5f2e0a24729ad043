// Brings what an environment holds into the repository of its project, as a result of a task is brought there.

import type { OperationHandlers } from '@orrery/protocol';
import { appendAudit } from '../audit/index.ts';
import type { Environments } from '../environment/index.ts';
import { listRefs, writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { createMutex } from '../kernel/mutex.ts';
import { environmentHead } from './environment-head.ts';
import { clock, type Parts } from './parts.ts';

/** The handler of it. One at a time for each environment. */
export const environmentApplyHandlers = (
  parts: Parts,
  { environments }: { readonly environments: Environments },
): Pick<OperationHandlers, 'environmentApply'> => {
  const mutex = createMutex();
  return {
    environmentApply: async ({ params, body, caller }) => {
      const row = await environments.find(params.id);
      return mutex.run(row.id, async () => {
        const mirror = parts.workspace.mirrorOf(row.project_id);
        // The newest one that was brought there: later work goes on top of it.
        const applied = `refs/orrery/applied/${refPart(row.id)}`;
        const [last] = await listRefs(parts.git, mirror, applied);
        const title = body.message ?? `Changes of ${row.name}`;
        const head = await environmentHead(parts, environments, { id: row.id, title, before: last?.sha ?? null });
        const picked = `refs/orrery/picked/${refPart(row.id)}/${head.headSha}`;
        await writeRef(mirror, { ref: picked, sha: head.headSha });
        const { taskId: _none, ...done } = await parts.results.apply({
          ...head,
          taskId: row.id,
          what: `the work of ${row.name}`,
          projectId: row.project_id,
          mode: body.mode,
          branch: body.branch ?? row.branch,
        });
        await writeRef(mirror, { ref: applied, sha: head.headSha });
        const detail = { branch: done.branch, headSha: done.headSha };
        const record = {
          actor: `token:${caller.name}`,
          action: 'environment.apply',
          subject: row.id,
          outcome: 'done',
          detail,
        } as const;
        await parts.store.transaction((tx) => appendAudit(tx.db, record, clock.nowMs()));
        return { environmentId: row.id, ...done };
      });
    },
  };
};
