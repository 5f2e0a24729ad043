// Where a session's program runs: its environment, which is started when it sleeps.

import { OrreryError } from '@orrery/protocol';
import { changeNamed, namedById, type NamedRow } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import type { SessionRow } from '../../session/index.ts';
import type { SessionConductorParts } from './context.ts';

/** Whether nothing can run where a session's program ran: its environment is stopped or gone. */
export const isPlaceClosed = async (parts: SessionConductorParts, { environment_id: id }: SessionRow): Promise<boolean> => {
  await parts.environments.settled(id);
  const row = await namedById(parts.store.read, id);
  return row === null || row.deleted_at !== null || (row.operation === null && row.open === 0);
};

/** The environment of a session, started when it sleeps. Rejects with why it cannot be had. */
export const placeOf = async (
  parts: SessionConductorParts,
  session: SessionRow,
  stopped: AbortSignal,
): Promise<{ readonly row: NamedRow; readonly environment: Environment } | null> => {
  for (;;) {
    await parts.environments.settled(session.environment_id);
    if (stopped.aborted) return null;
    const row = await namedById(parts.store.read, session.environment_id);
    if (row === null || row.deleted_at !== null) throw gone(session);
    if (row.operation !== null) {
      parts.environments.begin(row.id);
      continue;
    }
    if (row.state === 'ready') return { row, environment: await parts.environments.open(row) };
    await wakeEnvironment(parts, row);
  }
};

const wakeEnvironment = async (parts: SessionConductorParts, row: NamedRow): Promise<void> => {
  if (row.state !== 'stopped' || row.spec === null)
    throw new OrreryError('conflict', `The environment ${row.name} is ${row.state}: ${row.reason ?? 'no reason is known'}`, {
      rule: 'A session works in an environment that is ready; what waits for it stays.',
      fix: `orrery env setup ${row.name}`,
    });
  const nowMs = parts.clock.nowMs();
  await parts.store.transaction((tx) => changeNamed(tx, row.id, { operation: 'start', reason: null, nowMs }));
  parts.environments.begin(row.id);
};

const gone = (session: SessionRow): OrreryError =>
  new OrreryError('not_found', `The environment of the session ${session.name} was deleted.`, {
    rule: 'A session lives in one environment and in no other; its log stays.',
    fix: `orrery session end ${session.name}`,
  });
