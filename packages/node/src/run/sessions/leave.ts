// Ends the programs of sessions: gently when somebody leaves, firmly when a stop is not heeded. What the clock does to them.

import { OrreryError } from '@orrery/protocol';
import {
  SESSION_CLOSE_MS,
  SESSION_INTERRUPT_MS,
  SESSION_START_MS,
  SESSION_STOP_MS,
  TERMINATE_GRACE_MS,
} from '../../kernel/limits.ts';
import { errorFields } from '../../kernel/log.ts';
import { findSession, findSessionRun, isActive, openTurns, type TurnRow } from '../../session/index.ts';
import { isLimited } from '../account-limits.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { tellFailedCall } from './failed-call.ts';
import { attend } from './follow.ts';

type Way = (parts: SessionConductorParts, live: Live) => Promise<void>;

/** Ends a program, one attempt at a time; one that failed is made again by the clock. */
export const leave = async (parts: SessionConductorParts, live: Live, how: Way): Promise<void> => {
  if (live.ending) return;
  live.ending = true;
  try {
    await parts.held();
    await how(parts, live);
  } finally {
    live.ending = false;
  }
};

/** Takes a program's input away, then asks it to end, then does not ask. */
export const gently: Way = async (parts, live) => {
  const active = !live.leaving && (await openTurns(parts.store.read, live.sessionId)).some(isActive);
  if (active) await stopTurn(parts, live);
  if (live.perTurn) return firmly(parts, live);
  live.leaving = true;
  // Not waited for: behind input that the program does not read, its end comes never.
  live.handle.closeInput().catch((thrown: unknown) => parts.log.debug('session.input.left', errorFields(thrown)));
  if (await endsWithin(parts, live, SESSION_CLOSE_MS)) return;
  await firmly(parts, live);
};

const firmly: Way = async (parts, live) => {
  live.leaving = true;
  await live.handle.terminate().catch(ignoreEnded);
  if (await endsWithin(parts, live, TERMINATE_GRACE_MS)) return;
  await atOnce(parts, live);
};

const atOnce: Way = async (_, live) => {
  live.leaving = true;
  await live.handle.kill().catch(ignoreEnded);
};

/** Closing stops what runs: it is asked to, and the end of the program is the proof. */
const stopTurn = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  await parts.store.transaction(async (tx) => {
    for (const turn of await openTurns(tx.db, live.sessionId))
      if (isActive(turn) && turn.kind === 'prompt')
        await tx.db.updateTable('turn').set({ cancel_requested: 1 }).where('id', '=', turn.id).execute();
  });
  if (live.perTurn) return;
  await attend(parts, live);
  const until = parts.clock.nowMs() + SESSION_INTERRUPT_MS;
  while (parts.clock.nowMs() < until && (await openTurns(parts.store.read, live.sessionId)).some(isActive))
    await parts.clock.sleep(50);
};

const endsWithin = async (parts: SessionConductorParts, live: Live, ms: number): Promise<boolean> => {
  const until = parts.clock.nowMs() + ms;
  while (parts.clock.nowMs() < until) {
    if ((await live.handle.tryWait().catch(() => null)) !== null) return true;
    await parts.clock.sleep(50);
  }
  return false;
};

/** For what is asked of a program that may have ended. */
export const ignoreEnded = (thrown: unknown): void => {
  if (thrown instanceof OrreryError && ['conflict', 'keeper_lost', 'unsupported'].includes(thrown.code)) return;
  throw thrown;
};

/** What the clock does to a session: an end that is wanted, a stop that is not heeded, and sleep. */
export const passTime: Way = async (parts, live) => {
  if (live.ending) return;
  const nowMs = parts.clock.nowMs();
  const session = await findSession(parts.store.read, live.sessionId);
  if (live.leaving || session?.wanted != null) return leave(parts, live, gently);
  const open = await openTurns(parts.store.read, live.sessionId);
  // Asked to stop, it does not: the process ends, and with it the turn.
  if (isUnheeded(live, open, nowMs)) return leave(parts, live, firmly);
  if (live.unfit !== null) return leave(parts, live, atOnce);
  await tellFailedCall(parts, live, open);
  const run = await findSessionRun(parts.store.read, live.runId);
  // It never said that it takes prompts: that start failed.
  if (run?.ready === 0 && nowMs - run.started_at > SESSION_START_MS) return leave(parts, live, atOnce);
  if (nowMs - live.quietSince <= parts.sessions.idleMs) return;
  // Hours of a usage limit are slept through, too.
  const limited = session !== null && !open.some(isActive) && (await isLimited(parts, session));
  if (open.length === 0 || limited) await leave(parts, live, gently);
};

/** Whether a turn that was told to stop says nothing, or goes on and on. */
const isUnheeded = (live: Live, open: readonly TurnRow[], nowMs: number): boolean => {
  // What it is not told is not waited for.
  if (live.perTurn) return open.some((turn) => isActive(turn) && turn.cancel_requested === 1);
  const told = open.find((turn) => isActive(turn) && turn.kind === 'prompt' && turn.cancel_told === 1);
  live.stopping = told === undefined ? null : live.stopping?.turn === told.id ? live.stopping : { turn: told.id, sinceMs: nowMs };
  if (live.stopping === null) return false;
  return nowMs - live.quietSince > SESSION_INTERRUPT_MS || nowMs - live.stopping.sinceMs > SESSION_STOP_MS;
};
