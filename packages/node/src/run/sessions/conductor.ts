// Conducts sessions: wakes their programs when there is something to say, follows them, and puts them to sleep.

import { toOrreryError } from '@orrery/protocol';
import type { Environment, RunEnd } from '../../exec/backend.ts';
import { LEASE_MS, SESSION_TICK_MS } from '../../kernel/limits.ts';
import { errorFields } from '../../kernel/log.ts';
import { accountFor, isLimited, liftLimits } from '../account-limits.ts';
import { dropConversation } from '../conversation.ts';
import {
  changeSession,
  findSession,
  liveSessions,
  openTurns,
  sessionNotFound,
  type SessionConductor,
  type SessionRow,
} from '../../session/index.ts';
import { judgeAgain } from './by-policy.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { attend, followProgram, unsentTurns } from './follow.ts';
import { gently, ignoreEnded, leave, passTime } from './leave.ts';
import { rest, restsUntil } from './rest.ts';
import { settleProgram } from './settle.ts';
import { carryBack, openPlaceOf } from './carry-back.ts';
import { takeCheckpoint } from './checkpoints.ts';
import { keepForFork } from './fork.ts';
import { lookAtFiles } from './look.ts';
import { rewind } from './rewind.ts';
import { askTitle } from './titles.ts';
import { haveProgram } from './have.ts';
import { createLeases, isLeaseLost, type UnheldParts } from './leases.ts';
import { isPlaceClosed } from './place.ts';

export type SessionsConductor = SessionConductor & {
  /** Goes on with every session that a dead node left. */
  recover(): Promise<void>;
  /** From now on, time passes for sessions. */
  watch(): void;
  /** Lets go of every program; they run on. */
  detach(): Promise<void>;
};

/** `fromMs`: what is to be done waits for that instant. */
type Conducting = { again: boolean; live: Held | null; fromMs: number | null; readonly done: Promise<void> };

/** A program that runs, and what it is talked to with: only as long as the session is held. */
type Held = { readonly live: Live; readonly held: SessionConductorParts };

export const createSessionsConductor = (given: UnheldParts): SessionsConductor => {
  // What is no session's own needs no lease.
  const parts: SessionConductorParts = { ...given, held: async () => undefined };
  const leases = createLeases(given);
  const conducting = new Map<string, Conducting>();
  const later = new Map<string, number>();
  const detached = new AbortController();
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: (() => void) | null = null;

  /** As long as there is something to do, and nobody else does it, a program runs and is followed. */
  const conduct = async (id: string, mine: Conducting): Promise<void> => {
    if (!isGoingOn(await findSession(parts.store.read, id))) return;
    const held = await leases.take(id);
    if (typeof held === 'number') {
      mine.fromMs = held;
      return;
    }
    while (!detached.signal.aborted) {
      mine.again = false;
      mine.fromMs = null;
      const session = await findSession(parts.store.read, id);
      if (!isGoingOn(session)) return;
      const going = await goOn(held, session, { mine, detached: detached.signal });
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
    const mine: Conducting = { again: false, live: null, fromMs: null, done: promise };
    conducting.set(id, mine);
    later.delete(id);
    conduct(id, mine)
      .catch((thrown: unknown) => {
        if (!isLeaseLost(thrown)) return fail(parts, id, { thrown, detached: detached.signal });
        parts.log.warn('session.lease.lost', { session: id });
        // Looked at again: whoever has it now may be gone by then.
        mine.fromMs = parts.clock.nowMs() + LEASE_MS;
        return undefined;
      })
      .finally(() => {
        conducting.delete(id);
        if (mine.fromMs !== null) later.set(id, mine.fromMs);
        resolve();
        if (mine.again) wake(id);
      });
  };

  /** Something changed in the rows of a session whose program runs. */
  const look = ({ live, held }: Held): void => {
    (async () => {
      await attend(held, live);
      const session = await findSession(parts.store.read, live.sessionId);
      if (session?.wanted != null) await leave(held, live, gently);
      else if (live.perTurn) await passTime(held, live);
    })().catch((thrown: unknown) => {
      if (!detached.signal.aborted) parts.log.warn('session.look.failed', { session: live.sessionId, ...errorFields(thrown) });
    });
  };

  /** Whoever waited for a usage limit that is over goes on. */
  const lift = async (): Promise<void> => {
    const lifted = await liftLimits(parts);
    if (lifted.length === 0) return;
    parts.wakeTasks();
    for (const session of await liveSessions(parts.store.read))
      if (lifted.includes(accountFor(parts, session) ?? '') && (await hasWork(parts, session))) wake(session.id);
  };

  /** Where its files are, also while its program sleeps. */
  const placeFor = async (session: SessionRow): Promise<Environment | null> =>
    conducting.get(session.id)?.live?.live.environment ?? openPlaceOf(parts, session);

  const logTitle = (thrown: unknown): void => parts.log.warn('session.title.failed', errorFields(thrown));

  const tick = async (): Promise<void> => {
    await parts.interactions.timeOut();
    await lift();
    const lives = [...conducting.values()].flatMap(({ live }) => (live === null ? [] : [live]));
    for (const id of await judgeAgain(parts, lives)) wake(id);
    await leases.renew([...conducting.keys()]);
    for (const { live } of conducting.values()) if (live !== null) await passTime(live.held, live.live).catch(ignoreLost);
    for (const [id, fromMs] of later) if (fromMs <= parts.clock.nowMs()) wake(id);
  };

  return {
    wake,
    checkpoint: async (id, kind = 'asked') => {
      const session = await findSession(parts.store.read, id);
      if (session === null) throw sessionNotFound(id);
      return takeCheckpoint(parts, session, { kind, turn: null, environment: await placeFor(session) });
    },
    keepConversation: (id, kept) => keepForFork(parts, id, kept),
    forgetConversation: (as) => dropConversation(parts.conversationsDirectory, as),
    parted: ({ id, environmentId }) => {
      parts.atKillPoint('session-forked', 'fork');
      parts.environments.begin(environmentId);
      wake(id);
    },
    look: async (id) => {
      const session = await findSession(parts.store.read, id);
      if (session === null) throw sessionNotFound(id);
      return lookAtFiles(parts, session, await placeFor(session));
    },
    recover: async () => {
      // One start of a node at a time works on a data directory: what another one had is nobody's.
      await leases.takeOver();
      for (const session of await liveSessions(parts.store.read))
        if (
          session.run_id !== null ||
          session.wanted !== null ||
          session.operation !== null ||
          isBegun(session) ||
          (await hasWork(parts, session))
        )
          wake(session.id);
    },
    watch: () => {
      timer = setInterval(
        () => void tick().catch((thrown: unknown) => parts.log.warn('session.tick.failed', errorFields(thrown))),
        SESSION_TICK_MS,
      );
      timer.unref();
      unsubscribe = parts.store.subscribe((events) => {
        for (const { sessionId, turn, body } of events)
          if (sessionId !== undefined && turn === 1 && body.kind === 'turn.ended')
            void askTitle(parts, sessionId, detached.signal).catch(logTitle);
      });
    },
    detach: async () => {
      detached.abort();
      if (timer !== null) clearInterval(timer);
      unsubscribe?.();
      const all = [...conducting.values()];
      for (const { live } of all) live?.live.handle.detach();
      await Promise.all(all.map(({ done }) => done));
      await leases.release();
    },
  };
};

/** Somebody else has the session: it is theirs to look after. */
const ignoreLost = (thrown: unknown): void => {
  if (!isLeaseLost(thrown)) throw thrown;
};

/** It is there and has not ended. */
const isGoingOn = (session: SessionRow | null): session is SessionRow => session !== null && session.ended_at === null;

/** It was asked for, and its program was never there. */
const isBegun = ({ state }: SessionRow): boolean => state === 'starting';

const hasWork = async (parts: SessionConductorParts, session: SessionRow): Promise<boolean> => {
  if (session.state === 'failed' || session.held === 1) return false;
  const open = await openTurns(parts.store.read, session.id);
  if (open.some(({ state }) => state === 'uncertain')) return false;
  return open.some(({ state }) => state === 'pending') && !(await isLimited(parts, session));
};

/** What is done while no program of it runs; null: nothing was to be done. True: there may be more to do. */
const whileAsleep = async (parts: SessionConductorParts, session: SessionRow, detached: AbortSignal): Promise<boolean | null> => {
  if (session.operation !== null && session.wanted !== 'end') {
    await rewind(parts, session, detached);
    return !detached.aborted;
  }
  if (session.wanted === null) return null;
  await rest(parts, session);
  return false;
};

/** Has its program, or starts one when it is needed, and follows it to its end. False: there is nothing to do. */
const goOn = async (
  parts: SessionConductorParts,
  session: SessionRow,
  { mine, detached }: { readonly mine: Conducting; readonly detached: AbortSignal },
): Promise<boolean> => {
  const asleep = session.run_id === null ? await whileAsleep(parts, session, detached) : null;
  if (asleep !== null) return asleep;
  const needed = session.run_id !== null || isBegun(session) || (await hasWork(parts, session));
  if (!needed) return false;
  mine.fromMs = await restsUntil(parts, session);
  if (mine.fromMs !== null) return false;
  const live = await haveProgram(parts, session, detached);
  if (live === null) return !detached.aborted;
  if (detached.aborted) {
    live.handle.detach();
    return false;
  }
  mine.live = { live, held: parts };
  try {
    const end = await followProgram(parts, live);
    mine.again = false;
    await settleEnded(parts, live, end);
  } catch (thrown) {
    // What it said cannot be kept, and would be read again: then this program is over.
    const unkept = toOrreryError(thrown).code === 'input_too_large';
    if (unkept && !detached.aborted) await live.handle.kill().catch(ignoreEnded);
    live.handle.detach();
    if (detached.aborted) return false;
    if (!unkept && toOrreryError(thrown).code !== 'keeper_lost') throw thrown;
    await settleProgram(parts, { ...live, end: null });
    if (unkept) throw thrown;
  } finally {
    mine.live = null;
    parts.liveTexts.clear(session.id);
  }
  // Whoever stopped its environment under it wants it stopped: what waits does not start it again by itself.
  return !(await isPlaceClosed(parts, session));
};

/** From here on nothing is told any more: what it never got is looked for once. */
const settleEnded = async (parts: SessionConductorParts, live: Live, end: RunEnd): Promise<void> => {
  live.leaving = true;
  live.ending = true;
  await live.turns.run('', async () => undefined);
  await unsentTurns(parts, live, live.handle);
  await settleProgram(parts, { ...live, end });
  parts.atKillPoint('session-ended', live.program);
  carryBack(parts, live);
  await live.handle.finish();
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
    .transaction(async (tx) => {
      if ((await findSession(tx.db, id))?.ended_at !== null) return;
      await changeSession(tx, id, { state: 'failed', reason: error.toLines().join(' '), nowMs: parts.clock.nowMs() });
    })
    .catch((again: unknown) => parts.log.error('session.left', { session: id, ...errorFields(again) }));
};
