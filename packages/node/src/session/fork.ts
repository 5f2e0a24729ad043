// A session parts from another one at a checkpoint: an environment of its own with the files as they were there, the
// conversation up to there by the program's own means or as a record, and the log of it. The other one is only read.

import type { SessionFork } from '@orrery/protocol';
import type { Branch } from '../harness/dialogue.ts';
import type { Tx } from '../store/store.ts';
import { sameIntent, tellBegun, unbegun } from './begin.ts';
import { checkpointNotFound, goesNatively, placeOfCheckpoint, whyNotStill } from './checkpoint.ts';
import { findCheckpoint, type CheckpointRow } from './checkpoint-store.ts';
import type { SessionParts } from './doors.ts';
import { copyLog, copyTurns, toldBefore, turnsBefore } from './fork-log.ts';
import { handOverRecord } from './hand-over-record.ts';
import { refuse } from './inputs.ts';
import { isActive, sessionNotFound, type SessionRow } from './model.ts';
import { findSession, insertSession, openTurns, sessionByRequest } from './store.ts';
import { refuseExpired } from './tombstones.ts';

type Forking = {
  readonly session: SessionRow;
  readonly asked: SessionFork;
  readonly requestId: string;
  readonly hash: string;
};

/**
 * The new session; the other one stays as it is. Session, log and environment are recorded in one transaction: a node that
 * dies before it has made nothing but a checkpoint, one that dies behind it makes the rest. Where the program itself cannot
 * go on from there, its memory is replaced by a record, and both the answer and the log say so.
 */
export const forkSession = async (
  parts: SessionParts,
  { session, asked, requestId, hash }: Forking,
): Promise<{ readonly row: SessionRow; readonly replayed: boolean }> => {
  parts.checkRoom();
  const at = await placeToPart(parts, session, asked.at);
  const recordPlace = await parts.branchPlace(session.environment_id);
  const id = parts.ids('session');
  const turns = await turnsBefore(parts.store.read, session.id, at);
  const told = await toldBefore(parts.store, session, at);
  const goesOn = await memoryOf(parts, session, { at, id, first: turns.record });
  const recorded = parts.store.transaction(async (tx) => {
    const known = sameIntent(await sessionByRequest(tx.db, requestId), { requestId, hash });
    if (known !== null) return { row: known, replayed: true };
    await refuseExpired(tx.db, { requestId, kind: 'session' });
    const place = await recordPlace(tx, { sessionId: id, checkpoint: at });
    await insertSession(tx.db, {
      ...unbegun({ id, requestId, hash, nowMs: parts.clock.nowMs() }),
      ...(await likeness(parts, session)),
      ...called(session, { ...asked, place: place.name }),
      environment_id: place.id,
      // Rows are named by turns and starts: none of them may be one that was copied.
      generation: session.generation,
      forked_from: JSON.stringify({ session: session.id, turn: at.turn, replaced: goesOn.replaced }),
      branch: goesOn.branch === null ? null : JSON.stringify(goesOn.branch),
      record: goesOn.record,
    });
    await copyTurns(parts, tx, { turns: turns.rows, to: id });
    await copyLog(tx, { told, to: id, from: session });
    await tellBegun(tx, id);
    await tellParted(tx, { id, session, at, why: goesOn.why });
    const row = await findSession(tx.db, id);
    if (row === null) throw sessionNotFound(id);
    return { row, replayed: false };
  });
  const made = await recorded.catch(() => null);
  if (goesOn.branch !== null && made?.row.id !== id) await parts.conductor().forgetConversation(id);
  return recorded;
};

/** What the program of a fork goes on with: a place in its own conversation, or a record, or nothing where nothing was said. */
type Memory = {
  readonly branch: Branch | null;
  readonly record: string | null;
  /** Its own memory was replaced. */
  readonly replaced: boolean;
  /** Why, for people; null: it was not. */
  readonly why: string | null;
};

const memoryOf = async (
  parts: SessionParts,
  session: SessionRow,
  { at, id, first }: { readonly at: CheckpointRow; readonly id: string; readonly first: string | null },
): Promise<Memory> => {
  const from = placeOfCheckpoint(at);
  const can = parts.forkOf(session.harness);
  if (!goesNatively(at, can === 'native' ? 'native' : 'replaced')) {
    const record = await handOverRecord(parts.store, session, { until: at.sequence, why: 'forked' });
    const why =
      can === 'native'
        ? 'Nobody knows that place in the conversation of its program'
        : `${session.harness} cannot go on from a place in a conversation`;
    return { branch: null, record, replaced: true, why };
  }
  if (from === null) return { branch: null, record: heldBack(session, at, first), replaced: false, why: null };
  await parts.conductor().keepConversation(session.id, { as: id, conversation: from.conversation });
  return { branch: from, record: null, replaced: false, why: null };
};

/** What was asked for; else what is there now, or, while a turn runs, what was there before it. */
const placeToPart = async (parts: SessionParts, session: SessionRow, asked: string | undefined): Promise<CheckpointRow> => {
  const { store } = parts;
  if (asked !== undefined) return found(session, asked, await findCheckpoint(store.read, session.id, asked));
  const open = await openTurns(store.read, session.id);
  const runs = open.find((turn) => isActive(turn) && turn.kind === 'prompt');
  if (runs?.turn != null)
    return found(session, String(runs.turn), await findCheckpoint(store.read, session.id, String(runs.turn)));
  refuse(whyNotStill(session, open));
  const id = await parts.conductor().checkpoint(session.id, 'fork');
  return found(session, id, await findCheckpoint(store.read, session.id, id));
};

const found = ({ name }: SessionRow, reference: string, row: CheckpointRow | null): CheckpointRow => {
  if (row === null) throw checkpointNotFound(name, reference);
  return row;
};

/** A record that was waiting for the first words is waiting in both. */
const heldBack = (session: SessionRow, at: CheckpointRow, first: string | null): string | null =>
  at.turn === null ? session.record : first;

/** What it has of the other one. A budget is one of the conversation: what was spent of it is gone. */
const likeness = async (parts: SessionParts, session: SessionRow) => {
  const { project_id, harness, model, effort, agent, mode, unattended, budget_usd: budget, max_turns } = session;
  const spent = budget === null ? 0 : ((await parts.usageOf(session.id)).costUsd ?? 0);
  return {
    ...{ project_id, harness, model, effort, agent, mode, unattended, max_turns, owns_environment: 1 },
    budget_usd: budget === null ? null : Math.max(0, budget - spent),
  };
};

const called = (
  session: SessionRow,
  { name, title, place }: { readonly name?: string | undefined; readonly title?: string | undefined; readonly place: string },
) => ({
  name: name ?? place,
  name_given: name === undefined ? 0 : 1,
  title: title ?? session.title,
  // No model is asked for one again.
  title_from: title === undefined && session.title_from === 'model' ? 'model' : null,
});

const tellParted = async (
  tx: Tx,
  given: { readonly id: string; readonly session: SessionRow; readonly at: CheckpointRow; readonly why: string | null },
): Promise<void> => {
  const { id, session, at, why } = given;
  const where = at.turn === null ? 'behind its last turn' : `before its turn ${at.turn}`;
  const text = `It parted from the session ${session.id} ${where}.`;
  const anew = `${why ?? ''}: a new one begins, and is given a record of what was said.`;
  await tx.append([
    {
      ...{ taskId: null, sessionId: id, turn: null },
      body: { kind: 'notice', level: why === null ? 'info' : 'warning', text: why === null ? text : `${text} ${anew}` },
    },
  ]);
};
