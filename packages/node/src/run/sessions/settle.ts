// A session's program has ended, or is lost: everything that hung on it is settled.

import { toOrreryError } from '@orrery/protocol';
import type { RunEnd } from '../../exec/backend.ts';
import { clip } from '../../harness/clip.ts';
import { leftOpen } from '../../harness/dialogue.ts';
import { settleOutcome } from '../../harness/outcome.ts';
import type { Reported } from '../../harness/reported.ts';
import { markTold, listInteractions, settleInteraction, untold } from '../../interaction/index.ts';
import {
  changeSession,
  findSession,
  findSessionRun,
  openTurns,
  removeFrames,
  updateSessionRun,
  updateTurn,
  type SessionRow,
  type SessionRunRow,
  type TurnRow,
} from '../../session/index.ts';
import { SESSION_FAILED_STARTS } from '../../kernel/limits.ts';
import type { NewEvent, Tx } from '../../store/store.ts';
import { notExecuted } from '../ending.ts';
import { EVERY_ASK } from './asks.ts';
import { stoppedFor, writeTurnEnd } from './commit.ts';
import type { SessionConductorParts } from './context.ts';

/** The end of one process; `end` null: it is gone and left no word. */
export const settleProgram = async (
  parts: SessionConductorParts,
  given: {
    readonly sessionId: string;
    readonly generation: number;
    readonly runId: string;
    readonly program: string;
    readonly end: RunEnd | null;
    /** Why it was of no use, in its own words. */
    readonly unfit?: string | null;
  },
): Promise<void> => {
  const { sessionId, generation, runId } = given;
  await parts.store.transaction(async (tx) => {
    const session = await findSession(tx.db, sessionId);
    const run = await findSessionRun(tx.db, runId);
    if (session === null || run === null || session.run_id !== runId) return;
    const nowMs = parts.clock.nowMs();
    await tx.append(leftOpen(JSON.parse(run.dialogue)).map((body) => ({ taskId: null, sessionId, turn: null, body })));
    const word = wordOf(parts, session, { run, end: given.end });
    for (const turn of await openTurns(tx.db, sessionId))
      await settleTurn(parts, tx, { turn, given, word, stderrTail: run.stderr_tail, nowMs });
    for (const row of await listInteractions(tx.db, { sessionId, all: false, limit: EVERY_ASK }))
      await settleInteraction(tx, row, { outcome: 'withdrawn', by: null, message: null, told: true, nowMs });
    for (const row of await untold(tx.db, sessionId)) await markTold(tx.db, row.id);
    await removeFrames(tx.db, { sessionId, generation, keys: 'all' });
    await updateSessionRun(tx.db, runId, { state: 'ended', end: JSON.stringify(given.end), ended_at: nowMs });
    const failedStarts = run.ready === 1 ? 0 : session.failed_starts + 1;
    const over = session.wanted === 'end';
    if (over) await emptyQueue(tx, sessionId, nowMs);
    const broken = !over && failedStarts >= SESSION_FAILED_STARTS;
    const lost = run.ready === 0 && (session.conversation ?? session.branch) !== null && hasLost(parts, session, run.stderr_tail);
    if (lost) await tx.append([newConversation(sessionId, given.program)]);
    await changeSession(tx, sessionId, {
      ...(lost ? { conversation: null, branch: null, position: null } : {}),
      // It is called by the session, and goes on from the first turn that was begun.
      ...(isPerTurn(parts, session) && run.ready === 1 && !isNotExecuted(given.end) ? { conversation: session.id } : {}),
      run_id: null,
      wanted: null,
      failed_starts: failedStarts,
      state: over ? 'ended' : broken ? 'failed' : 'dormant',
      reason: broken ? startFailed(given.program, failedStarts, given.unfit ?? run.stderr_tail) : null,
      ...(over ? { ended_at: nowMs } : {}),
      nowMs,
    });
  });
  await parts.tokens.end(sessionId);
};

const hasLost = (parts: SessionConductorParts, { harness }: SessionRow, stderr: string): boolean =>
  parts.harness(harness).session?.hasLost(stderr) ?? false;

const EXEC = 'exec:';
const isNotExecuted = (end: RunEnd | null): boolean => end?.reason?.startsWith(EXEC) === true;

const isPerTurn = (parts: SessionConductorParts, { harness }: SessionRow): boolean =>
  parts.harness(harness).session?.perTurn === true;

/** What is known of the turn beside the end of the process. */
const wordOf = (
  parts: SessionConductorParts,
  session: SessionRow,
  { run, end }: { readonly run: SessionRunRow; readonly end: RunEnd | null },
): Reported => {
  if (isNotExecuted(end)) {
    const message = `${session.harness} could not be started: ${notExecuted(end?.reason?.slice(EXEC.length) ?? '')}`;
    return { kind: 'failure', failure: 'program', message, resetsAt: null };
  }
  const unsaid: Reported = end === null ? { kind: 'stopped' } : null;
  const adapter = parts.harness(session.harness).session;
  if (adapter?.perTurn !== true) return unsaid;
  try {
    return adapter.dialogue({ offset: run.stdout_offset, state: JSON.parse(run.dialogue) }).word() ?? unsaid;
  } catch (thrown) {
    // Of another version: what was said is in the log, and what it meant is not guessed.
    if (toOrreryError(thrown).code === 'store_damaged') return unsaid;
    throw thrown;
  }
};

/** What was never kept, or went with its environment, is replaced by a new one, and that is said. */
const newConversation = (sessionId: string, program: string): NewEvent => {
  const text = `${program} does not have this conversation any more; it begins a new one.`;
  return { taskId: null, sessionId, turn: null, body: { kind: 'notice', level: 'warning', text } };
};

const startFailed = (program: string, times: number, stderr: string): string =>
  clip(`${program} ended ${times} times before it took anything. ${stderr.trimEnd().split('\n').at(-1) ?? ''}`.trimEnd(), 2048);

const settleTurn = async (
  parts: SessionConductorParts,
  tx: Tx,
  {
    turn,
    given,
    word,
    stderrTail,
    nowMs,
  }: {
    readonly turn: TurnRow;
    readonly given: Parameters<typeof settleProgram>[1];
    readonly word: Reported;
    readonly stderrTail: string;
    readonly nowMs: number;
  },
): Promise<void> => {
  if (turn.state === 'dispatching') return turn.kind === 'steer' ? unheard(tx, { turn, nowMs }) : park(tx, given.sessionId, turn);
  if (turn.state !== 'accepted') return;
  const gateway = parts.gatewayFailure(given.sessionId, turn.started_at ?? 0);
  const { end } = given;
  const outcome = settleOutcome(
    word,
    {
      exitCode: end?.exitCode ?? null,
      signal: end?.signal ?? null,
      stderrTail,
      stoppedFor: stoppedFor(turn) ?? (end?.limit === 'wall' ? 'timeout' : null),
      gateway,
    },
    given.program,
  );
  await writeTurnEnd(parts, tx, { row: turn, outcome, nowMs });
};

/** Words for a turn that is over: there is nothing left to decide, and nothing waits for them. */
const unheard = async (tx: Tx, { turn, nowMs }: { readonly turn: TurnRow; readonly nowMs: number }): Promise<void> => {
  const reason = 'The program ended before it said that it took this.';
  await updateTurn(tx.db, turn.id, { state: 'ended', outcome: 'uncertain', reason, ended_at: nowMs });
};

/** What is left in the queue of a session that ends. */
export const emptyQueue = async (tx: Tx, sessionId: string, nowMs: number): Promise<void> => {
  const reason = 'the session ended';
  for (const { id, state } of await openTurns(tx.db, sessionId))
    await updateTurn(tx.db, id, {
      ...(state === 'uncertain' ? { state: 'ended', outcome: 'uncertain' } : { state: 'removed' }),
      reason,
      ended_at: nowMs,
    });
};

/** Nobody knows whether the program took it. */
const park = async (tx: Tx, sessionId: string, turn: TurnRow): Promise<void> => {
  const reason = 'The program ended, and nobody knows whether it took this: send it again, or let it be.';
  await updateTurn(tx.db, turn.id, { state: 'uncertain', reason });
  await tx.append([{ taskId: null, sessionId, turn: turn.turn, body: { kind: 'turn.parked', turnId: turn.id, reason } }]);
};
