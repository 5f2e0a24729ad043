// Conducts sessions: wakes their programs when there is something to say, follows them, and puts them to sleep.

import { OrreryError, toOrreryError } from '@orrery/protocol';
import {
  SESSION_CLOSE_MS,
  SESSION_INTERRUPT_MS,
  SESSION_START_MS,
  SESSION_TICK_MS,
  TERMINATE_GRACE_MS,
} from '../../kernel/limits.ts';
import { errorFields } from '../../kernel/log.ts';
import {
  changeSession,
  findSession,
  findSessionRun,
  isActive,
  liveSessions,
  openTurns,
  type SessionConductor,
  type SessionRow,
} from '../../session/index.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { attend, followProgram, unsentTurns } from './follow.ts';
import { settleProgram } from './settle.ts';
import { findProgram, placeOf, startProgram } from './start.ts';

export type SessionsConductor = SessionConductor & {
  /** Goes on with every session that a dead node left. */
  recover(): Promise<void>;
  /** From now on, time passes for sessions. */
  watch(): void;
  /** Lets go of every program; they run on. */
  detach(): Promise<void>;
};

type Conducting = { again: boolean; live: Live | null; readonly done: Promise<void> };

export const createSessionsConductor = (parts: SessionConductorParts): SessionsConductor => {
  const conducting = new Map<string, Conducting>();
  const detached = new AbortController();
  let timer: NodeJS.Timeout | null = null;

  /** As long as there is something to do, a program runs and is followed. */
  const conduct = async (id: string, mine: Conducting): Promise<void> => {
    while (!detached.signal.aborted) {
      mine.again = false;
      const session = await findSession(parts.store.read, id);
      if (session === null || session.ended_at !== null) return;
      const going = await goOn(parts, session, { mine, detached: detached.signal });
      if (!going && !mine.again) return;
    }
  };

  const wake = (id: string): void => {
    if (detached.signal.aborted) return;
    const before = conducting.get(id);
    if (before !== undefined) {
      before.again = true;
      if (before.live !== null) look(before.live);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine: Conducting = { again: false, live: null, done: promise };
    conducting.set(id, mine);
    conduct(id, mine)
      .catch((thrown: unknown) => fail(parts, id, { thrown, detached: detached.signal }))
      .finally(() => {
        conducting.delete(id);
        resolve();
        if (mine.again) wake(id);
      });
  };

  /** Something changed in the rows of a session whose program runs. */
  const look = (live: Live): void => {
    (async () => {
      await attend(parts, live);
      const session = await findSession(parts.store.read, live.sessionId);
      if (session?.wanted != null) await leave(parts, live);
    })().catch((thrown: unknown) => {
      if (!detached.signal.aborted) parts.log.warn('session.look.failed', { session: live.sessionId, ...errorFields(thrown) });
    });
  };

  const tick = async (): Promise<void> => {
    await parts.interactions.timeOut();
    for (const { live } of conducting.values()) if (live !== null) await passTime(parts, live);
  };

  return {
    wake,
    recover: async () => {
      for (const session of await liveSessions(parts.store.read))
        if (session.run_id !== null || session.wanted !== null || (await hasWork(parts, session))) wake(session.id);
    },
    watch: () => {
      timer = setInterval(
        () => void tick().catch((thrown: unknown) => parts.log.warn('session.tick.failed', errorFields(thrown))),
        SESSION_TICK_MS,
      );
      timer.unref();
    },
    detach: async () => {
      detached.abort();
      if (timer !== null) clearInterval(timer);
      const all = [...conducting.values()];
      for (const { live } of all) live?.handle.detach();
      await Promise.all(all.map(({ done }) => done));
    },
  };
};

const hasWork = async ({ store }: SessionConductorParts, session: SessionRow): Promise<boolean> => {
  if (session.state === 'failed') return false;
  const open = await openTurns(store.read, session.id);
  if (open.some(({ state }) => state === 'uncertain')) return false;
  return open.some(({ state }) => state === 'pending');
};

/** Has its program, or starts one when it is needed, and follows it to its end. False: there is nothing to do. */
const goOn = async (
  parts: SessionConductorParts,
  session: SessionRow,
  { mine, detached }: { readonly mine: Conducting; readonly detached: AbortSignal },
): Promise<boolean> => {
  if (session.run_id === null && session.wanted !== null) {
    await rest(parts, session);
    return false;
  }
  const needed = session.run_id !== null || session.state === 'starting' || (await hasWork(parts, session));
  if (!needed) return false;
  const live = await haveProgram(parts, session, detached);
  if (live === null) return !detached.aborted;
  mine.live = live;
  try {
    const end = await followProgram(parts, live);
    await unsentTurns(parts, live, live.handle);
    await settleProgram(parts, { ...live, end });
    parts.atKillPoint('session-ended', live.program);
    await live.handle.finish();
  } catch (thrown) {
    live.handle.detach();
    if (detached.aborted) return false;
    if (toOrreryError(thrown).code !== 'keeper_lost') throw thrown;
    await settleProgram(parts, { ...live, end: null });
  } finally {
    mine.live = null;
  }
  return true;
};

const rest = (parts: SessionConductorParts, { id, wanted }: SessionRow): Promise<void> =>
  parts.store.transaction(async (tx) => {
    const nowMs = parts.clock.nowMs();
    if (wanted === 'end') {
      for (const turn of await openTurns(tx.db, id))
        await tx.db
          .updateTable('turn')
          .set({ state: 'removed', reason: 'the session ended', ended_at: nowMs })
          .where('id', '=', turn.id)
          .execute();
      return changeSession(tx, id, { wanted: null, state: 'ended', reason: null, ended_at: nowMs, nowMs });
    }
    return changeSession(tx, id, { wanted: null, state: 'dormant', reason: null, nowMs });
  });

/** The program of a session; null when the one it had is gone and settled, or the node stops. */
const haveProgram = async (parts: SessionConductorParts, session: SessionRow, detached: AbortSignal): Promise<Live | null> => {
  const place = await placeOf(parts, session, detached);
  if (place === null) return null;
  if (session.run_id === null) return startProgram(parts, session, place);
  const found = await findProgram(parts, session, place.environment);
  if (found?.live != null) return found.live;
  const { program } = parts.harness(session.harness).session ?? { program: session.harness };
  const { id: sessionId, generation, run_id: runId } = session;
  // One that was recorded and never began was told nothing.
  if (found?.run.state === 'recorded') await unsentAll(parts, session);
  await settleProgram(parts, { sessionId, generation, runId, program, end: null });
  return null;
};

const unsentAll = async ({ store }: SessionConductorParts, { id, generation, failed_starts }: SessionRow): Promise<void> => {
  await store.transaction(async (tx) => {
    for (const turn of await openTurns(tx.db, id))
      if (isActive(turn) && turn.generation === generation)
        await tx.db
          .updateTable('turn')
          .set({ state: 'pending', turn: null, generation: null, started_at: null })
          .where('id', '=', turn.id)
          .execute();
    // The crash was the node's.
    await tx.db
      .updateTable('session')
      .set({ failed_starts: failed_starts - 1 })
      .where('id', '=', id)
      .execute();
  });
};

/** A session whose program cannot be had says why; what waits in it stays. */
const fail = async (
  parts: SessionConductorParts,
  id: string,
  { thrown, detached }: { readonly thrown: unknown; readonly detached: AbortSignal },
): Promise<void> => {
  if (detached.aborted) return;
  const error = toOrreryError(thrown);
  parts.log.warn('session.failed', { session: id, ...errorFields(thrown) });
  await parts.store
    .transaction((tx) =>
      changeSession(tx, id, { state: 'failed', reason: error.toLines().join(' '), nowMs: parts.clock.nowMs() }),
    )
    .catch((again: unknown) => parts.log.error('session.left', { session: id, ...errorFields(again) }));
};

/** Takes a program's input away, then asks it to end, then does not ask. */
const leave = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  if (live.leaving) return;
  const active = (await openTurns(parts.store.read, live.sessionId)).some(isActive);
  if (active) await stopTurn(parts, live);
  live.leaving = true;
  await live.handle.closeInput().catch(ignoreEnded);
  if (await endsWithin(parts, live, SESSION_CLOSE_MS)) return;
  await live.handle.terminate().catch(ignoreEnded);
  if (await endsWithin(parts, live, TERMINATE_GRACE_MS)) return;
  await live.handle.kill().catch(ignoreEnded);
};

/** Closing stops what runs: it is asked to, and the end of the program is the proof. */
const stopTurn = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  await parts.store.transaction(async (tx) => {
    for (const turn of await openTurns(tx.db, live.sessionId))
      if (isActive(turn) && turn.kind === 'prompt')
        await tx.db.updateTable('turn').set({ cancel_requested: 1 }).where('id', '=', turn.id).execute();
  });
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

const ignoreEnded = (thrown: unknown): void => {
  if (thrown instanceof OrreryError && ['conflict', 'keeper_lost', 'unsupported'].includes(thrown.code)) return;
  throw thrown;
};

/** What the clock does to a session: a stop that is not heeded, and sleep. */
const passTime = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  const nowMs = parts.clock.nowMs();
  const open = await openTurns(parts.store.read, live.sessionId);
  const stopped = open.find((turn) => isActive(turn) && turn.kind === 'prompt' && turn.cancel_told === 1);
  if (stopped !== undefined && !live.leaving && nowMs - live.quietSince > SESSION_INTERRUPT_MS) {
    // Asked to stop, it neither stops nor says anything: the process ends, and with it the turn.
    live.leaving = true;
    await live.handle.terminate().catch(ignoreEnded);
    if (!(await endsWithin(parts, live, TERMINATE_GRACE_MS))) await live.handle.kill().catch(ignoreEnded);
    return;
  }
  const run = await findSessionRun(parts.store.read, live.runId);
  if (run?.ready === 0 && !live.leaving && nowMs - run.started_at > SESSION_START_MS) {
    // It never said that it takes prompts: that start failed.
    live.leaving = true;
    await live.handle.kill().catch(ignoreEnded);
    return;
  }
  if (open.length === 0 && nowMs - live.quietSince > parts.sessions.idleMs) await leave(parts, live);
};
