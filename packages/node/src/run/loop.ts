import type { Clock } from '../kernel/clock.ts';
import { LEASE_MS, RECOVER_KNOWN_MS, SETTLE_AGAIN_MS, SETTLE_TRIES } from '../kernel/limits.ts';
import { errorFields } from '../kernel/log.ts';
import { claimNext, nextRipe, renewLeases, ripen, takeOver, type Claim } from '../queue/index.ts';
import {
  type AttemptRow,
  type TaskRow,
  attemptsOf,
  findTask,
  insertAttempt,
  intentOf,
  mayBegin,
  openAttempt,
  updateTask,
} from '../task/index.ts';
import { limitedPrograms } from './account-limits.ts';
import { createAlarm } from './alarm.ts';
import { conductAttempt } from './attempt.ts';
import { writeFirstStage, type AttemptContext } from './attempt-context.ts';
import type { RunParts } from './doors.ts';
import { Detached } from './ending.ts';
import { reclaimLeftovers } from './recover.ts';

/** Takes work from the queue and conducts it. */
export type RunLoop = {
  /** Goes on with everything that a dead node was doing; resolves when it is known what each of it does now. */
  recover(): Promise<{
    readonly tasks: number;
    readonly reattached: number;
    readonly interrupted: number;
    readonly tookMs: number;
  }>;
  start(): void;
  /** Looks for work now. */
  wake(): void;
  cancel(taskId: string): void;
  /** Takes no new work; resolves when nothing runs. */
  drain(): Promise<void>;
  /** Lets go of everything; programs run on under their keepers. */
  detach(): Promise<void>;
  readonly running: number;
};

/** What an attempt is conducted with; each try at it has a journal of its own. */
type Conducted = Omit<AttemptContext, 'journal'>;

type Running = { readonly cancel: AbortController; readonly done: Promise<void> };

export const createRunLoop = (parts: RunParts): RunLoop => {
  const running = new Map<string, Running>();
  const detached = new AbortController();
  const state = { taking: false, looking: false, again: false };
  let renewal: NodeJS.Timeout | null = null;

  const conduct = (claim: Claim, task: TaskRow, attempt: AttemptRow): Promise<void> => {
    const cancel = new AbortController();
    if (task.cancel_requested === 1) cancel.abort();
    const { promise: known, resolve } = Promise.withResolvers<void>();
    const context: Conducted = {
      parts,
      task,
      intent: intentOf(task),
      attempt,
      cancelled: cancel.signal,
      detached: detached.signal,
      known: resolve,
    };
    const done = conductToTheEnd(context, claim)
      .catch((thrown: unknown) => {
        if (!(thrown instanceof Detached)) parts.log.error('attempt.left', { task: task.id, ...errorFields(thrown) });
      })
      .finally(() => {
        resolve();
        running.delete(task.id);
        wake();
      });
    running.set(task.id, { cancel, done });
    return known;
  };

  const look = async (): Promise<void> => {
    await ripenDue(parts);
    while (state.taking && running.size < parts.queue().parallel) {
      const begun = await begin(parts);
      if (begun === null) return;
      parts.atKillPoint('attempt-recorded', 'queue');
      void conduct(begun.claim, begun.task, begun.attempt);
    }
  };

  const wake = (): void => {
    if (!state.taking) return;
    if (state.looking) {
      state.again = true;
      return;
    }
    state.looking = true;
    look()
      .catch((thrown: unknown) =>
        parts.log.error('queue.claim.failed', {
          error: (thrown as Error).name,
          code: (thrown as { code?: string }).code ?? null,
        }),
      )
      .finally(() => {
        state.looking = false;
        if (state.again) {
          state.again = false;
          wake();
        } else if (state.taking) alarm.set();
      });
  };

  const alarm = createAlarm({
    clock: parts.clock,
    next: () => nextRipe(parts.store.read),
    ring: () => wake(),
    failed: (thrown) => parts.log.warn('queue.alarm.failed', errorFields(thrown)),
  });

  const stopTaking = (): void => {
    state.taking = false;
    alarm.stop();
  };

  return {
    recover: async () => {
      const from = parts.clock.monotonicMs();
      const claims = await parts.store.transaction((tx) =>
        takeOver(tx.db, { owner: parts.generation, nowMs: parts.clock.nowMs(), leaseMs: LEASE_MS }),
      );
      const going = await Promise.all(claims.map((claim) => resumeClaim(parts, claim)));
      // A place somewhere else may be out of reach: its attempt goes on waiting, and the node does not wait for it.
      const known = Promise.all(going.map(({ claim, task, attempt }) => conduct(claim, task, attempt)));
      await within(parts.clock, known, RECOVER_KNOWN_MS);
      await reclaimLeftovers(parts, claims);
      const reattached = going.filter(({ task }) => running.has(task.id)).length;
      return {
        tasks: claims.length,
        reattached,
        interrupted: claims.length - reattached,
        tookMs: Math.round(parts.clock.monotonicMs() - from),
      };
    },
    start: () => {
      state.taking = true;
      renewal = setInterval(() => void renew(parts), LEASE_MS / 3);
      wake();
    },
    wake,
    cancel: (taskId) => running.get(taskId)?.cancel.abort(),
    drain: async () => {
      stopTaking();
      while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
      if (renewal !== null) clearInterval(renewal);
    },
    detach: async () => {
      stopTaking();
      detached.abort();
      if (renewal !== null) clearInterval(renewal);
      await Promise.all([...running.values()].map(({ done }) => done));
    },
    get running() {
      return running.size;
    },
  };
};

/**
 * An end that could not be recorded is tried again until it can: a claim is never dropped with its work unsettled. What
 * cannot be collected after some tries is left as it is, and the task ends.
 */
const conductToTheEnd = async (context: Conducted, claim: Claim): Promise<void> => {
  const { parts, task } = context;
  let failures = 0;
  for (let waitMs = SETTLE_AGAIN_MS; ; waitMs = Math.min(waitMs * 2, SETTLE_AGAIN_MS * 30)) {
    try {
      const attempt = (await openAttempt(parts.store.read, task.id)) ?? context.attempt;
      await conductAttempt({ ...context, attempt, keepPlace: failures >= SETTLE_TRIES }, claim);
      return;
    } catch (thrown) {
      const code = (thrown as { code?: string }).code ?? null;
      if (thrown instanceof Detached || code === 'stale') throw thrown;
      if (code !== 'disk_full') failures += 1;
      parts.log.error('attempt.unsettled', { task: task.id, ...errorFields(thrown), againMs: waitMs });
      await parts.clock.sleep(waitMs, context.detached);
    }
  }
};

/** Waits for `work` for that long at most; it goes on in any case. */
const within = async (clock: Clock, work: Promise<unknown>, ms: number): Promise<void> => {
  const stop = new AbortController();
  const late = clock.sleep(ms, stop.signal).catch(() => undefined);
  await Promise.race([work, late]);
  stop.abort();
};

const renew = (parts: RunParts): Promise<void> =>
  parts.store
    .transaction((tx) => renewLeases(tx.db, { owner: parts.generation, nowMs: parts.clock.nowMs(), leaseMs: LEASE_MS }))
    .catch((thrown: unknown) => parts.log.warn('queue.renew.failed', { error: (thrown as Error).name }));

/** Tasks whose instant has come wait for it no longer, whether or not there is room for them. */
const ripenDue = async ({ store, clock }: RunParts): Promise<void> => {
  const nowMs = clock.nowMs();
  const at = await nextRipe(store.read);
  if (at === null || at > nowMs) return;
  await store.transaction(async (tx) => {
    for (const id of await ripen(tx.db, nowMs)) await mayBegin(tx, id);
  });
};

type Begun = { readonly claim: Claim; readonly task: TaskRow; readonly attempt: AttemptRow };

/** Claims the next task and records its new attempt with its first stage, in one transaction. */
const begin = (parts: RunParts): Promise<Begun | null> =>
  parts.store.transaction(async (tx) => {
    const nowMs = parts.clock.nowMs();
    const claim = await claimNext(tx.db, {
      owner: parts.generation,
      nowMs,
      leaseMs: LEASE_MS,
      perProject: parts.queue().perProject,
      limited: await limitedPrograms(parts, tx.db, nowMs),
    });
    if (claim === null) return null;
    parts.atKillPoint('claimed', 'queue');
    await updateTask(tx.db, claim.taskId, { state: 'running', started_at: nowMs });
    const task = await findTask(tx.db, claim.taskId);
    if (task === null) return null;
    const number = (await attemptsOf(tx.db, task.id)).length + 1;
    const attempt = newAttempt(parts, task, number);
    await insertAttempt(tx.db, attempt);
    await tx.append([
      { taskId: task.id, turn: null, body: { kind: 'task.state', state: 'running', waitingFor: null } },
      { taskId: task.id, turn: null, body: { kind: 'attempt.started', attempt: number, backend: task.backend } },
    ]);
    await writeFirstStage(tx, attempt);
    return { claim, task, attempt };
  });

const newAttempt = (parts: RunParts, task: TaskRow, number: number): AttemptRow => ({
  id: parts.ids('attempt'),
  task_id: task.id,
  number,
  environment_id: null,
  backend: task.backend,
  conversation: null,
  guarantees: '[]',
  progress: '{}',
  verdict: null,
  cause: null,
  reason: null,
  started_at: parts.clock.nowMs(),
  ended_at: null,
});

/** The open attempt of a claim that a dead node held. Claim and attempt are recorded together, so it is there. */
const resumeClaim = async (parts: RunParts, claim: Claim): Promise<Begun> => {
  const task = await findTask(parts.store.read, claim.taskId);
  const attempt = await openAttempt(parts.store.read, claim.taskId);
  if (task === null || attempt === null) throw new Error(`claimed task ${claim.taskId} has no open attempt`);
  return { claim, task, attempt };
};
