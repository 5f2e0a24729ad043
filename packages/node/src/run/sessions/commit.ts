// What bytes or a command gave becomes rows, in one transaction with the position they were read up to.

import type { ConversationBody } from '@orrery/protocol';
import { clip, largeText } from '../../harness/clip.ts';
import type { DialogueStep, SessionCatalogue, SessionFact } from '../../harness/dialogue.ts';
import { settleOutcome } from '../../harness/outcome.ts';
import { listInteractions, settleInteraction } from '../../interaction/index.ts';
import { SESSION_ASK_TITLE_BYTES } from '../../kernel/limits.ts';
import {
  AT_BEGINNING,
  apart,
  withPicturesKept,
  changeSession,
  findSession,
  findTurn,
  insertFrames,
  isActive,
  keepCatalogue,
  openTurns,
  spentOf,
  updateSessionRun,
  updateTurn,
  type TurnRow,
} from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import { noteTurn } from '../../usage/index.ts';
import { accountFor } from '../account-limits.ts';
import { openAsk, withdrawAsk } from './asking.ts';
import { EVERY_ASK } from './asks.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { rulesFor, type SessionRules } from './rules.ts';
import { UNATTENDED } from './unattended.ts';

/** Changes of a run's own row that go with a step. */
export type Position = { readonly stdout_offset?: number; readonly stderr_offset?: number; readonly stderr_tail?: string };

/** Commits steps in their order; `also` goes into the same transaction, before them. */
export const commitSteps = async (
  parts: SessionConductorParts,
  live: Live,
  given: { readonly steps: readonly DialogueStep[]; readonly position?: Position; readonly also?: (tx: Tx) => Promise<void> },
): Promise<void> => {
  const dialogue = JSON.stringify(live.dialogue.position().state);
  const facts = given.steps.flatMap((step) => step.facts);
  const rules = await rulesFor(parts, live, facts);
  return parts.store.transaction(async (tx) => {
    await given.also?.(tx);
    await updateSessionRun(tx.db, live.runId, { ...given.position, dialogue });
    for (const step of joined(given.steps)) await applyStep({ parts, live, tx, rules }, step);
  });
};

/** Events that nothing comes between go to the writer together: a program that says much would wait for each line of it. */
const joined = (steps: readonly DialogueStep[]): readonly DialogueStep[] => {
  const all: DialogueStep[] = [];
  let events: ConversationBody[] = [];
  for (const step of steps) {
    events.push(...step.events);
    if (step.facts.length + step.frames.length === 0) continue;
    all.push({ ...step, events });
    events = [];
  }
  return [...all, { events, facts: [], frames: [], live: [] }];
};

/** Where a step is applied, and what decides what it asks. */
type At = { readonly parts: SessionConductorParts; readonly live: Live; readonly tx: Tx; readonly rules: SessionRules | null };

const applyStep = async (at: At, step: DialogueStep): Promise<void> => {
  const { live, tx } = at;
  // Most lines of a program that tells each word are only read past.
  if (step.events.length + step.facts.length + step.frames.length === 0) return;
  const open = await openTurns(tx.db, live.sessionId);
  const turn = open.find((row) => row.kind === 'prompt' && isActive(row)) ?? null;
  await append(tx, live, { turn, events: step.events, nowMs: at.parts.clock.nowMs() });
  for (const fact of step.facts) await applyFact(at, fact);
  await insertFrames(
    tx.db,
    step.frames.map(({ key, text, prompt }) => ({
      session_id: live.sessionId,
      generation: live.generation,
      key,
      text,
      turn_id: prompt === null ? null : (open.find((row) => row.turn === prompt && row.kind === 'prompt')?.id ?? null),
    })),
  );
};

const append = async (
  tx: Tx,
  { sessionId }: Live,
  {
    turn,
    events,
    nowMs,
  }: { readonly turn: TurnRow | null; readonly events: readonly ConversationBody[]; readonly nowMs: number },
): Promise<void> => {
  // How a turn ended is told once, by the node, which knows more than the program.
  const bodies: ConversationBody[] = [];
  for (const body of events)
    if (body.kind !== 'turn.ended')
      bodies.push(await withPicturesKept(tx, sessionId, await apart(tx, sessionId, { body, large: largeText(body) })));
  if (bodies.length > 0) await tx.append(bodies.map((body) => ({ taskId: null, sessionId, turn: turn?.turn ?? null, body })));
  const told = bodies.findLast((body) => body.kind === 'context');
  if (told === undefined) return;
  const { usedTokens, windowTokens } = told;
  await changeSession(tx, sessionId, { context: JSON.stringify({ usedTokens, windowTokens }), nowMs });
};

const applyFact = async (at: At, fact: SessionFact): Promise<void> => {
  const { parts, live, tx } = at;
  const nowMs = parts.clock.nowMs();
  const { sessionId } = live;
  switch (fact.kind) {
    case 'ready':
      await updateSessionRun(tx.db, live.runId, { ready: 1 });
      return changeSession(tx, sessionId, { failed_starts: 0, nowMs, ...(await restingState(tx, sessionId)) });
    case 'conversation':
      return beginConversation(tx, sessionId, { id: fact.id, nowMs });
    case 'position':
      return changeSession(tx, sessionId, { position: fact.at, nowMs });
    case 'unfit':
      live.unfit = fact.reason;
      return;
    case 'catalogue':
      return takeCatalogue(at, fact.catalogue);
    case 'model':
      return takeModel(at, fact);
    case 'mode':
      return changeSession(tx, sessionId, { effective_mode: fact.mode, nowMs });
    case 'accepted':
      return acceptTurn(tx, sessionId, fact.turn);
    case 'steered':
      return steerTold(tx, live, { ...fact, nowMs });
    case 'began':
      return beginBySteer(tx, live, { key: fact.key, turn: fact.turn, nowMs });
    case 'ended':
      return endTurn(at, fact);
    case 'asks':
      return openAsk(at, fact);
    case 'withdrawn':
      return withdrawAsk(tx, live, { key: fact.key, nowMs });
  }
};

/** Of this session, and the newest of its harness. What it does not report anew stays as it was. */
const takeCatalogue = async ({ parts, live, tx }: At, told: Partial<SessionCatalogue>): Promise<void> => {
  const { sessionId } = live;
  const nowMs = parts.clock.nowMs();
  const session = await findSession(tx.db, sessionId);
  if (session === null) return;
  const before: object = JSON.parse(session.catalogue);
  const catalogue = JSON.stringify({ ...before, ...told });
  await changeSession(tx, sessionId, { catalogue, nowMs });
  const { id, pin } = parts.harness(session.harness);
  await keepCatalogue(tx, { harness: id, version: pin?.version ?? null, catalogue, sessionId, nowMs });
};

/** Another conversation than before: it has parted from the one it began at. Its place is its beginning, or not known yet. */
const beginConversation = async (
  tx: Tx,
  sessionId: string,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Promise<void> => {
  const before = await findSession(tx.db, sessionId);
  if (before?.conversation === id) return;
  const empty = before?.branch === null && !(await openTurns(tx.db, sessionId)).some(isActive);
  await changeSession(tx, sessionId, {
    conversation: id,
    conversation_at: nowMs,
    branch: null,
    position: empty ? AT_BEGINNING : null,
    nowMs,
  });
};

const takeModel = ({ parts, live, tx }: At, { model, effort }: Extract<SessionFact, { kind: 'model' }>): Promise<void> =>
  changeSession(tx, live.sessionId, {
    ...(model === null ? {} : { effective_model: model }),
    ...(effort === null ? {} : { effective_effort: effort }),
    nowMs: parts.clock.nowMs(),
  });

/** What a session is when no turn runs in it; a turn that runs keeps its own state. */
const restingState = async (tx: Tx, sessionId: string): Promise<{ state?: 'idle'; reason?: null }> =>
  (await openTurns(tx.db, sessionId)).some(isActive) ? {} : { state: 'idle', reason: null };

const turnNumbered = async (tx: Tx, sessionId: string, number: number): Promise<TurnRow | null> =>
  (await openTurns(tx.db, sessionId)).find((row) => row.kind === 'prompt' && row.turn === number) ?? null;

const acceptTurn = async (tx: Tx, sessionId: string, number: number): Promise<void> => {
  const row = await turnNumbered(tx, sessionId, number);
  if (row?.state === 'dispatching') await updateTurn(tx.db, row.id, { state: 'accepted' });
};

const steerTold = async (
  tx: Tx,
  { sessionId }: Live,
  { key, refused, untaken, nowMs }: Extract<SessionFact, { kind: 'steered' }> & { readonly nowMs: number },
): Promise<void> => {
  const row = await findTurn(tx.db, sessionId, key);
  // One that has begun a turn of its own is that turn now, and ends with it.
  if (row === null || row.kind !== 'steer') return;
  // Its refusal may be heard behind the end of the turn, which took it for unheard.
  if (untaken === true && (row.ended_at === null || row.outcome === 'error')) return waitAlone(tx, row, refused);
  if (row.ended_at !== null) return;
  const ending = refused === null ? { outcome: 'success', reason: null } : { outcome: 'error', reason: refused };
  await updateTurn(tx.db, row.id, { state: 'ended', ...ending, ended_at: nowMs });
};

/** Words that reached nobody for certain, and that somebody wants heard: they wait, in their place, for a turn of their own. */
const waitAlone = async (tx: Tx, row: TurnRow, refused: string | null): Promise<void> => {
  const again = { kind: 'prompt', state: 'pending', turn: null, generation: null, started_at: null };
  await updateTurn(tx.db, row.id, { ...again, outcome: null, reason: null, ended_at: null });
  const why = clip(refused ?? 'no reason was given', SESSION_ASK_TITLE_BYTES);
  const text = `The input ${row.id} was not taken into the turn and waits for one of its own: ${why}`;
  await tx.append([{ taskId: null, sessionId: row.session_id, turn: null, body: { kind: 'notice', level: 'warning', text } }]);
};

const beginBySteer = async (
  tx: Tx,
  { sessionId, generation }: Live,
  { key, turn, nowMs }: { readonly key: string; readonly turn: number; readonly nowMs: number },
): Promise<void> => {
  const row = await findTurn(tx.db, sessionId, key);
  if (row === null) return;
  await updateTurn(tx.db, row.id, { kind: 'prompt', turn, generation, state: 'accepted', started_at: nowMs });
  await changeSession(tx, sessionId, { state: 'running', reason: null, nowMs });
};

const endTurn = async ({ parts, live, tx }: At, fact: Extract<SessionFact, { kind: 'ended' }>): Promise<void> => {
  const row = await turnNumbered(tx, live.sessionId, fact.turn);
  if (row === null) return;
  const outcome = settleOutcome(
    fact.reported,
    {
      exitCode: null,
      signal: null,
      stderrTail: '',
      stoppedFor: stoppedFor(row),
      gateway: parts.gatewayFailure(live.sessionId, row.started_at ?? 0),
    },
    live.program,
  );
  await writeTurnEnd(parts, tx, { row, outcome, nowMs: parts.clock.nowMs() });
};

/** Why the node itself stopped a turn, or null. */
export const stoppedFor = (row: TurnRow): 'cancel' | 'timeout' | 'unattended' | null => {
  if (row.cancel_requested === 0) return null;
  return row.reason === 'timeout' || row.reason === UNATTENDED ? row.reason : 'cancel';
};

/** Records how a turn ended; what it still asked is withdrawn, and its steers are settled with it. */
export const writeTurnEnd = async (
  parts: Pick<SessionConductorParts, 'harness' | 'usageOf'>,
  tx: Tx,
  { row, outcome, nowMs }: { readonly row: TurnRow; readonly outcome: ReturnType<typeof settleOutcome>; readonly nowMs: number },
): Promise<void> => {
  const sessionId = row.session_id;
  await updateTurn(tx.db, row.id, { state: 'ended', outcome: outcome.outcome, reason: outcome.message, ended_at: nowMs });
  await tx.append([{ taskId: null, sessionId, turn: row.turn, body: outcome }]);
  const session = await findSession(tx.db, sessionId);
  if (session === null) return;
  const account = accountFor(parts, session);
  if (account !== null) await noteTurn(tx, { ...outcome, account, startedAt: row.started_at ?? 0, nowMs });
  const { costUsd } = await parts.usageOf(sessionId);
  const spent = await spentOf(tx.db, session, { costUsd, refused: outcome.outcome === 'budget' });
  for (const open of await listInteractions(tx.db, { sessionId, all: false, limit: EVERY_ASK }))
    await settleInteraction(tx, open, { outcome: 'withdrawn', by: null, message: null, told: true, nowMs });
  await changeSession(tx, sessionId, { ...(await restingState(tx, sessionId)), spent, nowMs });
};
