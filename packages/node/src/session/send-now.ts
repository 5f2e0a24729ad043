// An input that waits is sent before everything else: into the turn that runs where the program takes words there, else in its place.

import { OrreryError } from '@orrery/protocol';
import type { Tx } from '../store/store.ts';
import type { SessionParts } from './doors.ts';
import { isWords, refuse, reorder, sessionOf } from './inputs.ts';
import { isActive, whyClosed, whyNotWaiting, type TurnRow } from './model.ts';
import { checkSteers } from './steers.ts';
import { changeSession, openTurns, updateTurn } from './store.ts';

/** Repeatable while it waits. @throws OrreryError conflict when it does not wait, or behind an input that a person has to decide */
export const sendNow = async (
  parts: Pick<SessionParts, 'canSteer'>,
  tx: Tx,
  { turn, nowMs }: { readonly turn: TurnRow; readonly nowMs: number },
): Promise<void> => {
  refuse(whyNotWaiting(turn));
  const session = await sessionOf(tx, turn);
  refuse(whyClosed(session));
  const open = await openTurns(tx.db, session.id);
  const parked = open.find(({ state }) => state === 'uncertain');
  if (parked !== undefined)
    throw new OrreryError('conflict', `The input ${turn.id} waits behind one of which nobody knows whether the agent got it.`, {
      rule: 'That is decided first, by you.',
      fix: `orrery session decide ${session.name} ${parked.id} retry`,
    });
  if (session.held === 1) await changeSession(tx, session.id, { held: 0, nowMs });
  // On its way into the turn already.
  if (turn.kind === 'steer') return;
  const running = open.find((one) => one.kind === 'prompt' && isActive(one));
  // Files, commands, and what goes behind a record begin turns of their own.
  if (
    running !== undefined &&
    running.cancel_requested === 0 &&
    isWords(turn) &&
    turn.record === null &&
    parts.canSteer(session.harness)
  ) {
    checkSteers(session, open);
    return updateTurn(tx.db, turn.id, { kind: 'steer' });
  }
  await reorder(tx, turn, 0);
  if (running !== undefined) await updateTurn(tx.db, running.id, { cancel_requested: 1 });
};
