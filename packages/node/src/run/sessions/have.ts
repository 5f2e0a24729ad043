// The program of a session, which runs already or is started, and what becomes of one that is gone.

import { toOrreryError } from '@orrery/protocol';
import { findSession, isActive, openTurns, updateTurn, type SessionRow } from '../../session/index.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { backInQueue } from './follow.ts';
import { carryFork } from './fork.ts';
import { isPlaceClosed, placeOf } from './place.ts';
import { settleProgram } from './settle.ts';
import { findProgram, startProgram } from './start.ts';

/** The program of a session; null when the one it had is gone and settled, or the node stops. */
export const haveProgram = async (
  parts: SessionConductorParts,
  session: SessionRow,
  detached: AbortSignal,
): Promise<Live | null> => {
  const { id: sessionId, generation, run_id: runId } = session;
  if (runId !== null && (await isPlaceClosed(parts, session))) {
    await settleGone(parts, { session, runId });
    return null;
  }
  const place = await placeOf(parts, session, detached);
  if (place === null) return null;
  if (runId === null) {
    // Making the place took its time: what a person wants of the session is looked at again.
    const now = await findSession(parts.store.read, sessionId);
    if (now === null || now.wanted !== null) return null;
    await carryFork(parts, now, place.environment);
    return startProgram(parts, now, place);
  }
  const found = await findProgram(parts, session, place.environment).catch(async (thrown: unknown) => {
    if (toOrreryError(thrown).code === 'store_damaged')
      await settleProgram(parts, { sessionId, generation, runId, program: session.harness, end: null });
    throw thrown;
  });
  if (found?.live != null) return found.live;
  // One that was recorded and never began was told nothing.
  if (found?.run.state === 'recorded') await unsentAll(parts, session);
  await settleGone(parts, { session, runId });
  return null;
};

/** A program of which nothing is left. */
const settleGone = (
  parts: SessionConductorParts,
  { session, runId }: { readonly session: SessionRow; readonly runId: string },
): Promise<void> => {
  const { program } = parts.harness(session.harness).session ?? { program: session.harness };
  return settleProgram(parts, { sessionId: session.id, generation: session.generation, runId, program, end: null });
};

const unsentAll = async ({ store, clock }: SessionConductorParts, session: SessionRow): Promise<void> => {
  const { id, generation, failed_starts } = session;
  await store.transaction(async (tx) => {
    for (const turn of await openTurns(tx.db, id))
      if (isActive(turn) && turn.generation === generation) await updateTurn(tx.db, turn.id, backInQueue(turn, clock.nowMs()));
    // The crash was the node's.
    await tx.db
      .updateTable('session')
      .set({ failed_starts: failed_starts - 1 })
      .where('id', '=', id)
      .execute();
  });
};
