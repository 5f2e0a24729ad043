// Environments that sessions are given.

import { OrreryError, type SessionCreate } from '@orrery/protocol';
import type { Environments, NamedRow } from '../environment/index.ts';
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
  const { project, backend, image, base } = asked;
  const made = await environments.create(
    {
      project: project ?? '',
      ...(backend === undefined ? {} : { backend }),
      ...(image === undefined ? {} : { image }),
      ...(base === undefined ? {} : { base }),
      start: true,
      // Ids may be as long as this one may be: two that differ anywhere must not meet.
      requestId: `environment.${intentHash({ session: requestId })}`,
    },
    { egress },
  );
  return { id: made.id, name: made.name, projectId: made.project.id };
};

/** Throws `invalid_input` for a session that says of its environment, which is there, what is not true of it. */
export const refuseBeside = (asked: SessionCreate, { name, backend }: Pick<NamedRow, 'name' | 'backend'>): void => {
  const beside = [
    ...(asked.backend === undefined || asked.backend === backend ? [] : ['--backend']),
    ...(asked.image === undefined ? [] : ['--image']),
    ...(asked.base === undefined ? [] : ['--base']),
  ];
  if (beside.length === 0) return;
  throw new OrreryError('invalid_input', `The environment ${name} is another than ${beside.join(' and ')} says.`, {
    rule: 'Backend, image and base of a session are those of its environment.',
    fix: `Leave ${beside.join(' and ')} away, or make another: orrery env create`,
  });
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
