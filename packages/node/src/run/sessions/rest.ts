// A program that cannot take a conversation up again at once is not started before it can; nothing else of the session waits.

import { toInstant } from '../../kernel/clock.ts';
import { changeSession, type SessionRow } from '../../session/index.ts';
import type { SessionConductorParts } from './context.ts';

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
