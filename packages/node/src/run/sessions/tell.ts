// What stands in a session's rows and its program has not heard yet, in the order of its weight: answers, a stop, the
// mode, steers, and the next prompt when nothing runs.

import {
  OrreryError,
  type AttachmentFacts,
  type ConversationBody,
  type InteractionOutcome,
  type PermissionMode,
} from '@orrery/protocol';
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
import { isLimited } from '../account-limits.ts';
import { applyRule, toldAnswer } from './asking.ts';
import { checkpointBefore } from './checkpoints.ts';
import { commitSteps } from './commit.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { attachmentsOf, promptOf } from './prompt.ts';

/** A command (null: there is none to give), and what becomes of its rows in the transaction that makes it durable. */
type Telling = { readonly command: SessionCommand | null; readonly mark: (tx: Tx) => Promise<void> };

/** Tells the program everything it can be told now; answers whether a turn runs or waits to be sent. */
export const tellAll = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  for (;;) {
    const next = await nextTelling(parts, live);
    if (next === null) return;
    await tellOne(parts, live, next);
  }
};

const tellOne = async (parts: SessionConductorParts, live: Live, { command, mark }: Telling): Promise<void> => {
  if (command === null) return parts.store.transaction(mark);
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
  if (session === null || session.run_id !== live.runId || live.leaving || live.unfit !== null) return null;
  await applyRule(parts, session);
  const open = await openTurns(read, live.sessionId);
  return (
    (await nextAnswer(parts, live)) ??
    nextStop(open) ??
    nextMode(parts, session) ??
    ((await ready(parts, live))
      ? (nextModel(parts, session) ?? nextSteer(parts, live, open) ?? (await nextPrompt(parts, live, { session, open })))
      : null)
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

/** Model and effort: what a person wants and the program was not told. */
const nextModel = (parts: SessionConductorParts, session: SessionRow): Telling | null => {
  const { id, model, effort } = session;
  if (model === session.told_model && effort === session.told_effort) return null;
  return {
    command: { kind: 'model', model, effort },
    mark: (tx) => changeSession(tx, id, { told_model: model, told_effort: effort, nowMs: parts.clock.nowMs() }),
  };
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
  if (row === undefined || stays || (await isLimited(parts, session))) return null;
  const number = (await lastNumbers(parts.store.read, live.sessionId)).turn + 1;
  if (live.checkpointed !== number) {
    await checkpointBefore(parts, live.environment, { session, turn: number });
    live.checkpointed = number;
    // It took its time: what is to be said now is looked at again.
    return nextTelling(parts, live);
  }
  // A command or a summing up is no place for what was said before.
  const record = row.action === 'say' ? (row.record ?? session.record) : null;
  const command = await promptOf(parts, live, { session, row, number, record });
  if ('refused' in command) return { command: null, mark: (tx) => refuseTurn(parts, tx, { row, reason: command.refused }) };
  parts.forgetFailure(session.id);
  const mark = async (tx: Tx): Promise<void> => {
    const { sessionId, generation } = live;
    await markDispatched(tx, { sessionId, generation, row, number, record, nowMs: parts.clock.nowMs() });
  };
  return { command, mark };
};

/** It is over before it was sent. */
const refuseTurn = async (
  parts: SessionConductorParts,
  tx: Tx,
  { row, reason }: { readonly row: TurnRow; readonly reason: string },
): Promise<void> => {
  await updateTurn(tx.db, row.id, { state: 'ended', outcome: 'error', reason, ended_at: parts.clock.nowMs() });
  await tx.append([
    { taskId: null, sessionId: row.session_id, turn: null, body: { kind: 'notice', level: 'warning', text: reason } },
  ]);
};

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
  const spent = row.action === 'say' ? { record: null } : {};
  await changeSession(tx, sessionId, { state: 'running', reason: null, ...spent, position: null, nowMs });
};

/** The log has the input as it is sent. */
const told = async (tx: Tx, row: TurnRow, turn: number | null): Promise<void> => {
  const { session_id: sessionId } = row;
  const said: ConversationBody = { kind: 'user', text: row.text, ...named(row) };
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

const named = (row: TurnRow): { attachments?: AttachmentFacts[] } => {
  const attachments = attachmentsOf(row);
  return attachments.length === 0 ? {} : { attachments: [...attachments] };
};
