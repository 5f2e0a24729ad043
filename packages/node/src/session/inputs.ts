// The queue of a session: inputs are taken durably, in order, once for each request.

import { OrreryError, type TurnCreate } from '@orrery/protocol';
import { intentHash } from '../kernel/intent.ts';
import { SESSION_LINE_BYTES, SESSION_QUEUE, SESSION_QUEUE_CHARS } from '../kernel/limits.ts';
import type { Tx } from '../store/store.ts';
import { meaningOf, type Meant } from './actions.ts';
import type { SessionParts } from './doors.ts';
import { isActive, otherIntent, sessionNotFound, turnNotFound, whyClosed, type SessionRow, type TurnRow } from './model.ts';
import { checkSteer } from './steers.ts';
import { titleOf } from './title.ts';
import { changeSession, findSession, findTurn, insertTurn, lastNumbers, openTurns, updateTurn } from './store.ts';

/** Throws what there is to throw. */
export const refuse = (error: OrreryError | null): void => {
  if (error !== null) throw error;
};

/** Tells a repeated input from another one under the same request id. */
export const turnHash = ({ text, kind, action = 'say', command, attachments = [] }: TurnIntent): string =>
  intentHash({
    ...{ text, kind },
    ...(action === 'say' ? {} : { action }),
    ...(command === undefined ? {} : { command }),
    ...(attachments.length === 0 ? {} : { attachments }),
  });

type TurnIntent = { readonly text: string; readonly kind: string } & Pick<
  Partial<TurnCreate>,
  'action' | 'command' | 'attachments'
>;

/** The row of an input that waits. */
export const newTurn = (
  parts: Pick<SessionParts, 'ids'>,
  sessionId: string,
  given: {
    readonly text: string;
    readonly kind: string;
    readonly requestId: string;
    readonly position: number;
    readonly nowMs: number;
    readonly hash: string;
  } & Partial<Pick<Meant, 'action' | 'attachments'>>,
) => ({
  id: parts.ids('turn'),
  session_id: sessionId,
  request_id: given.requestId,
  intent_hash: given.hash,
  kind: given.kind,
  action: given.action ?? 'say',
  attachments: JSON.stringify(given.attachments ?? []),
  text: given.text,
  position: given.position,
  state: 'pending',
  cancel_requested: 0,
  cancel_told: 0,
  created_at: given.nowMs,
});

/** Whether an input is words alone: no command, no files. */
export const isWords = ({ action, attachments }: Pick<TurnRow, 'action' | 'attachments'>): boolean =>
  action === 'say' && (JSON.parse(attachments) as unknown[]).length === 0;

/** Queues an input durably; the same request gets the same one. */
export const addTurn = async (
  parts: SessionParts,
  { id }: SessionRow,
  asked: TurnCreate,
): Promise<{ turn: TurnRow; replayed: boolean }> => {
  const requestId = asked.requestId ?? parts.ids('request');
  const hash = turnHash(asked);
  return parts.store.transaction(async (tx) => {
    const known = await findTurn(tx.db, id, requestId);
    if (known !== null) {
      if (known.intent_hash !== hash) throw otherIntent(requestId, 'input');
      return { turn: known, replayed: true };
    }
    const session = await findSession(tx.db, id);
    if (session === null) throw sessionNotFound(id);
    refuse(whyClosed(session));
    const open = await openTurns(tx.db, id);
    const meant = await meaningOf(parts, tx, { session, asked });
    checkQueue(session, open, meant);
    if (asked.kind === 'steer') checkSteer(parts, session, open);
    const { position } = await lastNumbers(tx.db, id);
    const row = newTurn(parts, id, {
      ...meant,
      kind: asked.kind,
      requestId,
      hash,
      position: position + 1,
      nowMs: parts.clock.nowMs(),
    });
    await insertTurn(tx.db, row);
    const untitled = session.title === null && session.name_given === 0 && row.action === 'say' && row.kind === 'prompt';
    const title = untitled ? ({ title: titleOf(row.text), title_from: 'words' } as const) : {};
    if (session.held === 1 || untitled) await changeSession(tx, id, { held: 0, ...title, nowMs: row.created_at });
    const turn = await findTurn(tx.db, id, row.id);
    if (turn === null) throw turnNotFound(row.id);
    await tellQueue(tx, id);
    return { turn, replayed: false };
  });
};

/** An input is one line of JSON for the program, and the keeper takes no longer one. @throws OrreryError input_too_large */
export const checkLine = (text: string): void => {
  const bytes = Buffer.byteLength(JSON.stringify(text));
  if (bytes <= SESSION_LINE_BYTES) return;
  throw new OrreryError('input_too_large', `The input is too large: ${bytes} bytes as it is written to a program.`, {
    rule: `One input has at most ${SESSION_LINE_BYTES} bytes, with what JSON writes in front of odd characters.`,
    fix: 'Put it into a file of the checkout, and name the file.',
  });
};

const checkQueue = ({ name }: SessionRow, others: readonly TurnRow[], { text }: Pick<TurnCreate, 'text'>): void => {
  checkLine(text);
  const chars = others.reduce((sum, turn) => sum + turn.text.length, text.length);
  if (others.length < SESSION_QUEUE && chars <= SESSION_QUEUE_CHARS) return;
  throw new OrreryError('limit_reached', `The queue of the session ${name} is full.`, {
    rule: `A session keeps at most ${SESSION_QUEUE} inputs and ${SESSION_QUEUE_CHARS} characters that wait; nothing was dropped.`,
    fix: `orrery session queue ${name}`,
  });
};

/** Gives an input that waits another text; its request stays the one that was made. */
export const editTurn = async (tx: Tx, turn: TurnRow, text: string): Promise<void> => {
  if (turn.action !== 'say')
    throw new OrreryError('unsupported', 'A command is not edited.', {
      rule: 'It is checked when it is given: take it back and give another.',
      fix: `orrery session remove SESSION ${turn.id}`,
    });
  const session = await sessionOf(tx, turn);
  const others = (await openTurns(tx.db, session.id)).filter(({ id }) => id !== turn.id);
  checkQueue(session, others, { text });
  await updateTurn(tx.db, turn.id, { text });
};

/** Puts an input of which nobody knows whether it was taken back among those that wait; what stopped it then is over. */
export const retryTurn = async (tx: Tx, turn: TurnRow): Promise<void> => {
  const session = await sessionOf(tx, turn);
  if (session.ended_at !== null) refuse(whyClosed(session));
  const again = { state: 'pending', reason: null, turn: null, generation: null, started_at: null };
  await updateTurn(tx.db, turn.id, { ...again, cancel_requested: 0, cancel_told: 0 });
  if (session.held === 1) await changeSession(tx, session.id, { held: 0, nowMs: session.changed_at });
};

/** The session of an input. */
export const sessionOf = async (tx: Tx, { session_id: id }: TurnRow): Promise<SessionRow> => {
  const session = await findSession(tx.db, id);
  if (session === null) throw sessionNotFound(id);
  return session;
};

/** A cancel is bound to the turn there is, also when the program has not heard of it yet. */
export const askInterrupt = async (tx: Tx, row: SessionRow, nowMs: number): Promise<void> => {
  const open = await openTurns(tx.db, row.id);
  const active = open.find((turn) => turn.kind === 'prompt' && isActive(turn));
  if (active !== undefined) return updateTurn(tx.db, active.id, { cancel_requested: 1 });
  const first = open.find((turn) => turn.kind === 'prompt' && turn.state === 'pending');
  if (first === undefined)
    throw new OrreryError('conflict', `No turn runs in the session ${row.name}.`, {
      rule: 'Only a turn that runs, or is about to, can be stopped.',
      fix: `orrery session show ${row.name}`,
    });
  await updateTurn(tx.db, first.id, {
    state: 'ended',
    outcome: 'cancelled',
    reason: 'stopped before it was sent',
    ended_at: nowMs,
  });
  await tellUnsent(tx, first, 'stopped');
  await tellQueue(tx, row.id);
};

/** Takes an input back that waits. */
export const takeBack = async (tx: Tx, turn: TurnRow, nowMs: number): Promise<void> => {
  await updateTurn(tx.db, turn.id, { state: 'removed', ended_at: nowMs });
  await tellUnsent(tx, turn, 'taken back');
};

/** Whoever watches learns of an input that will not be sent. */
const tellUnsent = async (tx: Tx, { session_id: sessionId, id }: TurnRow, what: string): Promise<void> => {
  const body = { kind: 'notice', level: 'info', text: `The input ${id} was ${what} before it was sent.` } as const;
  await tx.append([{ taskId: null, sessionId, turn: null, body }]);
};

/** Whoever watches learns that other inputs wait than before, or in another order. */
export const tellQueue = async (tx: Tx, sessionId: string): Promise<void> => {
  const waiting = (await openTurns(tx.db, sessionId)).filter(({ state }) => state === 'pending').length;
  await tx.append([{ taskId: null, sessionId, turn: null, body: { kind: 'queue.changed', waiting } }]);
};

/** Puts an input at a place among those that wait. */
export const reorder = async (tx: Tx, turn: TurnRow, position: number): Promise<void> => {
  const waiting = (await openTurns(tx.db, turn.session_id)).filter(({ state }) => state === 'pending');
  const others = waiting.filter(({ id }) => id !== turn.id);
  const order = [...others.slice(0, position), turn, ...others.slice(position)];
  const places = waiting.map((row) => row.position);
  for (const [index, row] of order.entries()) await updateTurn(tx.db, row.id, { position: places[index] ?? row.position });
};
