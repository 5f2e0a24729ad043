// What bytes or a command gave becomes rows, in one transaction with the position they were read up to.

import type { ConversationBody } from '@orrery/protocol';
import { largeText } from '../../harness/clip.ts';
import type { DialogueStep, SessionCatalogue, SessionFact } from '../../harness/dialogue.ts';
import { settleOutcome } from '../../harness/outcome.ts';
import {
  countOpen,
  findInteraction,
  listInteractions,
  markTold,
  openInteraction,
  settleInteraction,
  type InteractionRow,
} from '../../interaction/index.ts';
import { SESSION_OPEN_ASKS } from '../../kernel/limits.ts';
import {
  apart,
  changeSession,
  findSession,
  findTurn,
  insertFrames,
  isActive,
  openTurns,
  updateSessionRun,
  updateTurn,
  type TurnRow,
} from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import { allowsByItself, bounded } from './asks.ts';
import type { Live, SessionConductorParts } from './context.ts';

/** All that are open. */
export const EVERY = 1_000_000_000;

/** Changes of a run's own row that go with a step. */
export type Position = { readonly stdout_offset?: number; readonly stderr_offset?: number; readonly stderr_tail?: string };

/** Commits steps in their order; `also` goes into the same transaction, before them. */
export const commitSteps = (
  parts: SessionConductorParts,
  live: Live,
  given: { readonly steps: readonly DialogueStep[]; readonly position?: Position; readonly also?: (tx: Tx) => Promise<void> },
): Promise<void> => {
  const dialogue = JSON.stringify(live.dialogue.position().state);
  return parts.store.transaction(async (tx) => {
    await given.also?.(tx);
    await updateSessionRun(tx.db, live.runId, { ...given.position, dialogue });
    for (const step of given.steps) await applyStep({ parts, live, tx }, step);
  });
};

/** Where a step is applied. */
type At = { readonly parts: SessionConductorParts; readonly live: Live; readonly tx: Tx };

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
    if (body.kind !== 'turn.ended') bodies.push(await apart(tx, sessionId, { body, large: largeText(body) }));
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
      return changeSession(tx, sessionId, { conversation: fact.id, nowMs });
    case 'unfit':
      live.unfit = fact.reason;
      return;
    case 'catalogue':
      return learnCatalogue(tx, sessionId, { catalogue: fact.catalogue, nowMs });
    case 'mode':
      return changeSession(tx, sessionId, { effective_mode: fact.mode, nowMs });
    case 'accepted':
      return acceptTurn(tx, sessionId, fact.turn);
    case 'steered':
      return steerTold(tx, live, { key: fact.key, refused: fact.refused, nowMs });
    case 'began':
      return beginBySteer(tx, live, { key: fact.key, turn: fact.turn, nowMs });
    case 'ended':
      return endTurn(at, fact);
    case 'asks':
      return openAsk(at, fact);
    case 'withdrawn':
      return withdraw(tx, live, { key: fact.key, nowMs });
  }
};

/** What it does not report anew stays as it was. */
const learnCatalogue = async (
  tx: Tx,
  sessionId: string,
  { catalogue, nowMs }: { readonly catalogue: Partial<SessionCatalogue>; readonly nowMs: number },
): Promise<void> => {
  const known = (await findSession(tx.db, sessionId))?.catalogue ?? null;
  const before: object = known === null ? { models: [], commands: [] } : JSON.parse(known);
  await changeSession(tx, sessionId, { catalogue: JSON.stringify({ ...before, ...catalogue }), nowMs });
};

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
  { key, refused, nowMs }: { readonly key: string; readonly refused: string | null; readonly nowMs: number },
): Promise<void> => {
  const row = await findTurn(tx.db, sessionId, key);
  // One that has begun a turn of its own is that turn now, and ends with it.
  if (row === null || row.ended_at !== null || row.kind !== 'steer') return;
  const ending = refused === null ? { outcome: 'success', reason: null } : { outcome: 'error', reason: refused };
  await updateTurn(tx.db, row.id, { state: 'ended', ...ending, ended_at: nowMs });
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
  await writeTurnEnd(tx, live.sessionId, { row, outcome, nowMs: parts.clock.nowMs() });
};

/** Why the node itself stopped a turn, or null. */
export const stoppedFor = (row: TurnRow): 'cancel' | 'timeout' | null =>
  row.cancel_requested === 0 ? null : row.reason === 'timeout' ? 'timeout' : 'cancel';

/** Records how a turn ended; what it still asked is withdrawn, and its steers are settled with it. */
export const writeTurnEnd = async (
  tx: Tx,
  sessionId: string,
  { row, outcome, nowMs }: { readonly row: TurnRow; readonly outcome: ReturnType<typeof settleOutcome>; readonly nowMs: number },
): Promise<void> => {
  await updateTurn(tx.db, row.id, { state: 'ended', outcome: outcome.outcome, reason: outcome.message, ended_at: nowMs });
  await tx.append([{ taskId: null, sessionId, turn: row.turn, body: outcome }]);
  for (const open of await listInteractions(tx.db, { sessionId, all: false, limit: EVERY }))
    await settleInteraction(tx, open, { outcome: 'withdrawn', by: null, message: null, told: true, nowMs });
  await changeSession(tx, sessionId, { ...(await restingState(tx, sessionId)), nowMs });
};

const openAsk = async ({ parts, live, tx }: At, { key, ask: said }: Extract<SessionFact, { kind: 'asks' }>): Promise<void> => {
  const { sessionId, generation } = live;
  const nowMs = parts.clock.nowMs();
  const session = await findSession(tx.db, sessionId);
  const turn = (await openTurns(tx.db, sessionId)).find((row) => row.kind === 'prompt' && isActive(row))?.turn ?? null;
  const { interactionMs } = parts.sessions;
  const id = parts.ids('interaction');
  const waiting = await countOpen(tx.db, sessionId);
  const ask = bounded(said);
  await openInteraction(tx, {
    id,
    session_id: sessionId,
    generation,
    key,
    turn,
    ask: JSON.stringify(ask),
    revision: 1,
    state: 'open',
    told: 0,
    deadline_at: interactionMs === null ? null : nowMs + interactionMs,
    created_at: nowMs,
  });
  const decided =
    session !== null && allowsByItself(session.mode, said, live.environment.workdir)
      ? ({ outcome: 'approved', by: `mode "${session.mode}"`, message: null } as const)
      : waiting >= SESSION_OPEN_ASKS
        ? ({ outcome: 'denied', by: 'the node', message: `${waiting} questions wait already; none more is taken.` } as const)
        : null;
  const row = decided === null ? null : await findInteraction(tx.db, id);
  if (decided !== null && row !== null) {
    await settleInteraction(tx, row, { ...decided, told: false, nowMs });
    return;
  }
  await changeSession(tx, sessionId, { state: 'waiting', reason: ask.title, nowMs });
};

const withdraw = async (tx: Tx, live: Live, { key, nowMs }: { readonly key: string; readonly nowMs: number }): Promise<void> => {
  const open = await listInteractions(tx.db, { sessionId: live.sessionId, all: false, limit: EVERY });
  const row = open.find((one) => one.key === key && one.generation === live.generation);
  if (row === undefined) return;
  await settleInteraction(tx, row, { outcome: 'withdrawn', by: null, message: null, told: true, nowMs });
  await afterAnswer(tx, live.sessionId, nowMs);
};

/** A session waits as long as something is asked. */
export const afterAnswer = async (tx: Tx, sessionId: string, nowMs: number): Promise<void> => {
  const session = await findSession(tx.db, sessionId);
  if (session?.state !== 'waiting') return;
  if ((await countOpen(tx.db, sessionId)) > 0) return;
  const runs = (await openTurns(tx.db, sessionId)).some(isActive);
  await changeSession(tx, sessionId, { state: runs ? 'running' : 'idle', reason: null, nowMs });
};

/** Marks an answer as told, or as one that no program is left to hear. */
export const toldAnswer = async (tx: Tx, row: InteractionRow, nowMs: number): Promise<void> => {
  await markTold(tx.db, row.id);
  await afterAnswer(tx, row.session_id, nowMs);
};
