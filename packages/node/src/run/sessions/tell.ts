// What stands in a session's rows and its program has not heard yet, in the order of its weight: answers, a stop, the
// mode, steers, and the next prompt when nothing runs.

import { OrreryError, type ConversationBody, type InteractionOutcome, type PermissionMode } from '@orrery/protocol';
import { largeText } from '../../harness/clip.ts';
import type { SessionCommand } from '../../harness/dialogue.ts';
import { answersOf, untold } from '../../interaction/index.ts';
import {
  apart,
  changeSession,
  findSession,
  isActive,
  lastNumbers,
  openTurns,
  updateTurn,
  type SessionRow,
  type TurnRow,
} from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import { applyRule, toldAnswer } from './asking.ts';
import { checkpointBefore } from './checkpoints.ts';
import { commitSteps } from './commit.ts';
import type { Live, SessionConductorParts } from './context.ts';

/** A command, and what becomes of its rows in the transaction that makes it durable. */
type Telling = { readonly command: SessionCommand; readonly mark: (tx: Tx) => Promise<void> };

/** Tells the program everything it can be told now; answers whether a turn runs or waits to be sent. */
export const tellAll = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  for (;;) {
    const next = await nextTelling(parts, live);
    if (next === null) return;
    await tellOne(parts, live, next);
  }
};

const tellOne = async (parts: SessionConductorParts, live: Live, { command, mark }: Telling): Promise<void> => {
  try {
    const step = live.dialogue.tell(command);
    await commitSteps(parts, live, { steps: [step], also: mark });
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || thrown.code !== 'unsupported') throw thrown;
    // It cannot be told: that is said once, and not tried again.
    const text = thrown.message;
    await parts.store.transaction(async (tx) => {
      await mark(tx);
      await tx.append([
        { taskId: null, sessionId: live.sessionId, turn: null, body: { kind: 'notice', level: 'warning', text } },
      ]);
    });
  }
};

const nextTelling = async (parts: SessionConductorParts, live: Live): Promise<Telling | null> => {
  const { read } = parts.store;
  const session = await findSession(read, live.sessionId);
  if (session === null || session.run_id !== live.runId || live.leaving) return null;
  await applyRule(parts, session);
  const open = await openTurns(read, live.sessionId);
  return (
    (await nextAnswer(parts, live)) ??
    nextStop(open) ??
    nextMode(parts, session) ??
    ((await ready(parts, live)) ? (nextSteer(parts, live, open) ?? (await nextPrompt(parts, live, { session, open }))) : null)
  );
};

const ready = async ({ store }: SessionConductorParts, { runId }: Live): Promise<boolean> =>
  (await store.read.selectFrom('session_run').select('ready').where('id', '=', runId).executeTakeFirst())?.ready === 1;

const nextAnswer = async (parts: SessionConductorParts, live: Live): Promise<Telling | null> => {
  for (const row of await untold(parts.store.read, live.sessionId)) {
    const mark = (tx: Tx): Promise<void> => toldAnswer(tx, row, parts.clock.nowMs());
    // An answer for a process that is gone is nobody's.
    if (row.generation !== live.generation) {
      await parts.store.transaction(mark);
      continue;
    }
    const outcome = row.outcome as InteractionOutcome;
    const answers = answersOf(row);
    return { command: { kind: 'answer', key: row.key, outcome, answers, message: row.message }, mark };
  }
  return null;
};

const nextStop = (open: readonly TurnRow[]): Telling | null => {
  const row = open.find(
    (turn) => turn.kind === 'prompt' && isActive(turn) && turn.cancel_requested === 1 && turn.cancel_told === 0,
  );
  return row === undefined
    ? null
    : { command: { kind: 'interrupt' }, mark: (tx) => updateTurn(tx.db, row.id, { cancel_told: 1 }) };
};

const nextMode = (parts: SessionConductorParts, { id, mode, told_mode }: SessionRow): Telling | null =>
  mode === told_mode
    ? null
    : {
        command: { kind: 'mode', mode: mode as PermissionMode },
        mark: (tx) => changeSession(tx, id, { told_mode: mode, nowMs: parts.clock.nowMs() }),
      };

const nextSteer = (parts: SessionConductorParts, live: Live, open: readonly TurnRow[]): Telling | null => {
  const row = open.find((turn) => turn.kind === 'steer' && turn.state === 'pending');
  if (row === undefined) return null;
  const running = open.find((turn) => turn.kind === 'prompt' && isActive(turn));
  const mark = async (tx: Tx): Promise<void> => {
    const started = { turn: running?.turn ?? null, generation: live.generation, started_at: parts.clock.nowMs() };
    await updateTurn(tx.db, row.id, { state: 'dispatching', ...started });
    await told(tx, row, started.turn);
  };
  return { command: { kind: 'steer', key: row.id, text: row.text }, mark };
};

/** One turn at a time; an input that is parked holds everything behind it, and a steer that is under way may begin one. */
const nextPrompt = async (
  parts: SessionConductorParts,
  live: Live,
  { session, open }: { readonly session: SessionRow; readonly open: readonly TurnRow[] },
): Promise<Telling | null> => {
  if (open.some((turn) => isActive(turn) || turn.state === 'uncertain')) return null;
  const row = open.find((turn) => turn.state === 'pending');
  const stays = session.wanted !== null || session.operation !== null || session.held === 1;
  if (row === undefined || stays) return null;
  const number = (await lastNumbers(parts.store.read, live.sessionId)).turn + 1;
  if (live.checkpointed !== number) {
    await checkpointBefore(parts, live.environment, { session, turn: number });
    live.checkpointed = number;
    // It took its time: what is to be said now is looked at again.
    return nextTelling(parts, live);
  }
  const record = row.record ?? session.record;
  const mark = async (tx: Tx): Promise<void> => {
    const { sessionId, generation } = live;
    await markDispatched(tx, { sessionId, generation, row, number, record, nowMs: parts.clock.nowMs() });
  };
  return { command: { kind: 'prompt', turn: number, text: withRecord(record, row.text) }, mark };
};

/** What a program is given of an input: behind the record of an earlier conversation, where there is one. */
export const withRecord = (record: string | null, text: string): string => (record === null ? text : `${record}\n\n${text}`);

/** An input is under way from here on: whatever happens, it is not sent a second time by itself. */
export const markDispatched = async (
  tx: Tx,
  given: {
    readonly sessionId: string;
    readonly generation: number;
    readonly row: TurnRow;
    readonly number: number;
    readonly record: string | null;
    readonly nowMs: number;
  },
): Promise<void> => {
  const { sessionId, generation, row, number, record, nowMs } = given;
  await updateTurn(tx.db, row.id, { state: 'dispatching', turn: number, record, generation, started_at: nowMs });
  await told(tx, row, number);
  await changeSession(tx, sessionId, { state: 'running', reason: null, record: null, position: null, nowMs });
};

/** The log has the input as it is sent. */
const told = async (tx: Tx, row: TurnRow, turn: number | null): Promise<void> => {
  const { session_id: sessionId } = row;
  const said: ConversationBody = { kind: 'user', text: row.text };
  await tx.append([
    {
      taskId: null,
      sessionId,
      turn,
      body: { kind: 'turn.dispatched', turnId: row.id, requestId: row.request_id, steer: row.kind === 'steer' },
    },
    { taskId: null, sessionId, turn, body: await apart(tx, sessionId, { body: said, large: largeText(said) }) },
  ]);
};
