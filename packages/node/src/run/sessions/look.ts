// A session's files as they are now, for who reviews them.

import { OrreryError } from '@orrery/protocol';
import { namedById } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import type { SessionLook, SessionRow } from '../../session/index.ts';
import { preparedOf } from '../environments/place.ts';
import { broughtHere } from './carry-back.ts';
import type { SessionConductorParts } from './context.ts';

/** Reads all files into the mirror; nothing is changed, and no ref stays. They are brought here first where they lie elsewhere. */
export const lookAtFiles = async (
  parts: SessionConductorParts,
  session: SessionRow,
  environment: Environment | null,
): Promise<SessionLook> => {
  const row = await namedById(parts.store.read, session.environment_id);
  const prepared = row === null || row.deleted_at !== null ? null : preparedOf(row);
  if (prepared === null)
    throw new OrreryError('not_found', `The session ${session.name} has no files yet.`, {
      rule: 'Files are looked at once their environment is made.',
      fix: `orrery session show ${session.name}`,
    });
  if (environment !== null) await broughtHere(parts, environment);
  const named = { owner: session.id, name: parts.ids('checkpoint') };
  const { ref, sha, notes } = await parts.workspace.checkpoint(prepared.place.checkoutId, named);
  await parts.workspace.dropCheckpoint(session.project_id, { ref, sha });
  return { baseSha: prepared.baseSha, sha, notes };
};
