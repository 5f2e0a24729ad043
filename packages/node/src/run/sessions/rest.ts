// A session without a program: that it sleeps or ended, and from when on its program can take its conversation up again.

import { toInstant } from '../../kernel/clock.ts';
import { changeSession, type SessionRow } from '../../session/index.ts';
import type { SessionConductorParts } from './context.ts';
import { emptyQueue } from './settle.ts';

/** The instant (ms) at which its program may be started, told as the session's reason; null: now. */
export const restsUntil = async (parts: SessionConductorParts, session: SessionRow): Promise<number | null> => {
  const { run_id: runId, conversation, conversation_at: begunMs } = session;
  const adapter = parts.harness(session.harness).session;
  if (runId !== null || conversation === null || begunMs === null || adapter?.takesUpFrom === undefined) return null;
  const fromMs = adapter.takesUpFrom(begunMs);
  const nowMs = parts.clock.nowMs();
  if (fromMs <= nowMs) return null;
  const reason = `${adapter.program} can take this conversation up again from ${toInstant(fromMs)} on; what waits is sent then.`;
  if (session.reason !== reason) await parts.store.transaction((tx) => changeSession(tx, session.id, { reason, nowMs }));
  return fromMs;
};

/** What a person wanted of it is so. */
export const rest = (parts: SessionConductorParts, { id, wanted }: SessionRow): Promise<void> =>
  parts.store.transaction(async (tx) => {
    const nowMs = parts.clock.nowMs();
    if (wanted === 'end') {
      await emptyQueue(tx, id, nowMs);
      return changeSession(tx, id, { wanted: null, state: 'ended', reason: null, ended_at: nowMs, nowMs });
    }
    return changeSession(tx, id, { wanted: null, state: 'dormant', reason: null, nowMs });
  });
