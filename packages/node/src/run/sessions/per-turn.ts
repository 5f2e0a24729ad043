// A program that is started for each turn: its start is its prompt. What its keeper records is the proof: one that was never
// told to go had no prompt, one that was told had it.

import {
  findSession,
  openTurns,
  changeSession,
  isActive,
  lastNumbers,
  updateSessionRun,
  updateTurn,
  type SessionRow,
  type TurnRow,
} from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import type { SessionConductorParts } from './context.ts';
import { markDispatched } from './tell.ts';

/** The input that a process is started for. */
export type FirstInput = {
  readonly id: string;
  readonly text: string;
  readonly number: number;
  /** What it is given before its text. */
  readonly record: string | null;
};

const firstOf = (open: readonly TurnRow[]): TurnRow | null =>
  open.some((turn) => isActive(turn) || turn.state === 'uncertain')
    ? null
    : (open.find(({ state }) => state === 'pending') ?? null);

/** The input that is next, or null when there is none, or one is under way or parked. */
export const firstInput = async ({ store }: SessionConductorParts, { id, record }: SessionRow): Promise<FirstInput | null> => {
  const row = firstOf(await openTurns(store.read, id));
  if (row === null) return null;
  return { id: row.id, text: row.text, number: (await lastNumbers(store.read, id)).turn + 1, record: row.record ?? record };
};

/** Marks it as under way; false when it is not what is next any more, or the session is not to go on. */
export const dispatchFirst = async (
  tx: Tx,
  given: { readonly session: SessionRow; readonly first: FirstInput; readonly generation: number; readonly nowMs: number },
): Promise<boolean> => {
  const { session, first, generation, nowMs } = given;
  const now = await findSession(tx.db, session.id);
  const row = firstOf(await openTurns(tx.db, session.id));
  if (
    now === null ||
    now.wanted !== null ||
    now.operation !== null ||
    now.run_id !== null ||
    row?.id !== first.id ||
    row.text !== first.text
  )
    return false;
  await markDispatched(tx, { sessionId: session.id, generation, row, number: first.number, record: first.record, nowMs });
  return true;
};

/** Its keeper was told to go: the program has its prompt. Repeatable. */
export const acceptStarted = (
  { store, clock }: SessionConductorParts,
  { sessionId, generation, runId }: { readonly sessionId: string; readonly generation: number; readonly runId: string },
): Promise<void> =>
  store.transaction(async (tx) => {
    await updateSessionRun(tx.db, runId, { ready: 1 });
    for (const turn of await openTurns(tx.db, sessionId))
      if (turn.state === 'dispatching' && turn.generation === generation) await updateTurn(tx.db, turn.id, { state: 'accepted' });
    await changeSession(tx, sessionId, { failed_starts: 0, nowMs: clock.nowMs() });
  });

/** Nothing is asked of it: it sleeps until something is. */
export const restUnasked = ({ store, clock }: SessionConductorParts, { id }: SessionRow): Promise<void> =>
  store.transaction((tx) => changeSession(tx, id, { state: 'dormant', reason: null, nowMs: clock.nowMs() }));
