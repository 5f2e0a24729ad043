// Environments that sessions are given.

import type { SessionCreate } from '@orrery/protocol';
import type { Environments } from '../environment/index.ts';
import { intentHash } from '../kernel/intent.ts';
import type { CheckpointRow } from '../session/index.ts';
import type { Tx } from '../store/store.ts';

/** The one that was named, or one that is made. */
export const placeFor = async (
  environments: Environments,
  asked: SessionCreate,
  { requestId, egress }: { requestId: string; egress: readonly string[] },
) => {
  if (asked.environment !== undefined) {
    const row = await environments.find(asked.environment);
    return { id: row.id, name: row.name, projectId: row.project_id };
  }
  const { project, backend, base } = asked;
  const made = await environments.create(
    {
      project: project ?? '',
      ...(backend === undefined ? {} : { backend }),
      ...(base === undefined ? {} : { base }),
      start: true,
      // Ids may be as long as this one may be: two that differ anywhere must not meet.
      requestId: `environment.${intentHash({ session: requestId })}`,
    },
    { egress },
  );
  return { id: made.id, name: made.name, projectId: made.project.id };
};

/** An environment for a session that parts from another one, recorded in the transaction that records the session. */
export const branchPlace = async (environments: Environments, environmentId: string) => {
  const record = await environments.branch(environmentId);
  return async (tx: Tx, { sessionId, checkpoint }: { readonly sessionId: string; readonly checkpoint: CheckpointRow }) => {
    const { sha, head_sha: headSha, branch, staged } = checkpoint;
    const row = await record(tx, {
      requestId: `environment.${sessionId}`,
      checkpoint: checkpoint.id,
      point: { sha, headSha, branch, staged },
    });
    return { id: row.id, name: row.name, projectId: row.project_id };
  };
};
