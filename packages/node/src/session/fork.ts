// A session parts from another one at a checkpoint: an environment of its own with the files as they were there, the
// conversation up to there by the program's own means, and the log of it. The other one is only read.

import { OrreryError, type SessionFork } from '@orrery/protocol';
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

/** The new session; the other one stays as it is. @throws OrreryError unsupported for a program that cannot go on twice */
export const forkSession = async (
  parts: SessionParts,
  { session, asked, requestId, hash }: Forking,
): Promise<{ readonly row: SessionRow; readonly replayed: boolean }> => {
  refuse(whyNoFork(parts, session));
  parts.checkRoom();
  const wanted = await placeToPart(parts, session, asked.at);
  const place = await parts.branchPlace(session.environment_id, { requestId, checkpoint: wanted });
  // A request that comes again has an environment already: its files say where it parted.
  const at = place.checkpoint === wanted.id ? wanted : await findCheckpoint(parts.store.read, session.id, place.checkpoint);
  if (at === null) throw checkpointNotFound(session.name, place.checkpoint);
  const id = parts.ids('session');
  const from = placeOfCheckpoint(at);
  const native = goesNatively(at, 'native');
  if (from !== null && native) await parts.conductor().keepConversation(session.id, { as: id, conversation: from.conversation });
  const record = native ? null : await handOverRecord(parts.store, session, { until: at.sequence, why: 'forked' });
  const [told, turns] = [await toldBefore(parts.store, session, at), await turnsBefore(parts.store.read, session.id, at)];
  return parts.store.transaction(async (tx) => {
    const known = sameIntent(await sessionByRequest(tx.db, requestId), { requestId, hash });
    if (known !== null) return { row: known, replayed: true };
    await refuseExpired(tx.db, { requestId, kind: 'session' });
    const nowMs = parts.clock.nowMs();
    await insertSession(tx.db, {
      ...unbegun({ id, requestId, hash, nowMs }),
      ...(await likeness(parts, session)),
      ...called(session, { ...asked, place: place.name }),
      environment_id: place.id,
      // Rows are named by turns and starts: none of them may be one that was copied.
      generation: session.generation,
      forked_from: JSON.stringify({ session: session.id, turn: at.turn }),
      branch: from !== null && native ? JSON.stringify(from) : null,
      record: record ?? (from === null ? heldBack(session, at, turns.record) : null),
    });
    await copyTurns(parts, tx, { turns: turns.rows, to: id });
    await copyLog(tx, { told, to: id, from: session });
    await tellBegun(tx, id);
    await tellParted(tx, { id, session, at, replaced: !native });
    const row = await findSession(tx.db, id);
    if (row === null) throw sessionNotFound(id);
    return { row, replayed: false };
  });
};

/** Why its program cannot go on twice, or null. */
const whyNoFork = (parts: SessionParts, { harness, name }: SessionRow): OrreryError | null => {
  if (parts.canFork(harness)) return null;
  return new OrreryError('unsupported', `${harness} cannot go on with one conversation twice.`, {
    rule: 'A fork needs a program that begins a conversation of its own at a place of another one: `orrery harness show NAME` says which can.',
    fix: `orrery session hand-over ${name} --harness HARNESS`,
  });
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
  given: { readonly id: string; readonly session: SessionRow; readonly at: CheckpointRow; readonly replaced: boolean },
): Promise<void> => {
  const { id, session, at, replaced } = given;
  const where = at.turn === null ? 'behind its last turn' : `before its turn ${at.turn}`;
  const text = `It parted from the session ${session.id} ${where}.`;
  const anew = ' Nobody knows that place in the conversation of its program: it begins a new one with a record of what was said.';
  await tx.append([
    {
      ...{ taskId: null, sessionId: id, turn: null },
      body: { kind: 'notice', level: replaced ? 'warning' : 'info', text: replaced ? `${text}${anew}` : text },
    },
  ]);
};
