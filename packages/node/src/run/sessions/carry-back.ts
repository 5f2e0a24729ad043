// What a session did where its files lie elsewhere is brought here: after each turn, and before it is looked at or copied.

import { OrreryError, toOrreryError } from '@orrery/protocol';
import { namedById } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import { errorFields } from '../../kernel/log.ts';
import { CHECKPOINT_SYNC_MS, type SessionRow } from '../../session/index.ts';
import type { Live, SessionConductorParts } from './context.ts';

/**
 * Brings the files of an open place here where they lie elsewhere, its home among them, in its time. A place that is gone
 * has nothing more than what is here. Rejects with `backend_unreachable` when nobody can tell.
 */
export const broughtHere = async ({ clock }: SessionConductorParts, environment: Environment): Promise<void> => {
  const done = new AbortController();
  const late = clock.sleep(CHECKPOINT_SYNC_MS, done.signal).then(
    () => 'late' as const,
    () => 'done' as const,
  );
  const synced = environment
    .sync()
    .catch((thrown: unknown) => {
      if (toOrreryError(thrown).code !== 'keeper_lost') throw thrown;
    })
    .finally(() => done.abort());
  if ((await Promise.race([synced.then(() => 'done' as const), late])) === 'done') return synced;
  synced.catch(() => undefined);
  throw new OrreryError('deadline', `Its files could not be brought here in ${CHECKPOINT_SYNC_MS / 1000} seconds.`, {
    rule: 'Nothing that a session does waits longer for files of another place.',
  });
};

/** The place of a session whether its program runs or sleeps; null: it is not open, and all its files are here. */
export const openPlaceOf = async (
  parts: SessionConductorParts,
  { environment_id: id }: Pick<SessionRow, 'environment_id'>,
): Promise<Environment | null> => {
  const row = await namedById(parts.store.read, id);
  return row === null || row.deleted_at !== null || row.open === 0 || row.operation !== null
    ? null
    : parts.environments.open(row);
};

/**
 * When a turn has ended: what it did is here from then on, whatever becomes of the place until the next one. Nobody waits
 * for it. One that fails is logged, and made up for by the next one.
 */
export const carryBack = (parts: SessionConductorParts, { sessionId, environment }: Live): void => {
  broughtHere(parts, environment).catch((thrown: unknown) => {
    // A place that is being closed brings all of it.
    if (toOrreryError(thrown).code !== 'stale')
      parts.log.warn('session.work.elsewhere', { session: sessionId, ...errorFields(thrown) });
  });
};
