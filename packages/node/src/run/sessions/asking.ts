// What a program asks, from its first word to the answer that it is told.

import type { InteractionAsk, PolicyNote, Unattended } from '@orrery/protocol';
import type { SessionFact } from '../../harness/dialogue.ts';
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
import { changeSession, findSession, isActive, openTurns, type SessionRow } from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import { allowsByItself, bounded, EVERY_ASK } from './asks.ts';
import { settleByPolicy } from './by-policy.ts';
import type { Live, SessionConductorParts } from './context.ts';
import type { SessionRules } from './rules.ts';
import { settleByRule } from './unattended.ts';

/** Where it is asked. */
type At = { readonly parts: SessionConductorParts; readonly live: Live; readonly tx: Tx; readonly rules: SessionRules | null };
type Asks = Extract<SessionFact, { kind: 'asks' }>;

/** Records what is asked, and answers at once what the policies, the session's mode or its rule answer. */
export const openAsk = async ({ parts, live, tx, rules }: At, { key, ask: said }: Asks): Promise<void> => {
  const { sessionId, generation } = live;
  const nowMs = parts.clock.nowMs();
  const session = await findSession(tx.db, sessionId);
  const turn = (await openTurns(tx.db, sessionId)).find((row) => row.kind === 'prompt' && isActive(row))?.turn ?? null;
  const answerMs = parts.sessions.interactionMs();
  const id = parts.ids('interaction');
  const waiting = await countOpen(tx.db, sessionId);
  const policy = rules?.(said) ?? null;
  const ask: InteractionAsk = {
    ...bounded(said),
    ...(said.kind === 'edit' ? { workdir: live.environment.workdir } : {}),
    ...(policy === null ? {} : { policy }),
  };
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
    deadline_at: answerMs === null ? null : nowMs + answerMs,
    created_at: nowMs,
  });
  const row = await findInteraction(tx.db, id);
  const byItself =
    row !== null && session !== null && (await decide(tx, { row, session, ask, said, policy, waiting, live, nowMs }));
  if (!byItself) await changeSession(tx, sessionId, { state: 'waiting', reason: ask.title, nowMs });
};

/** What the policies decide, what the mode allows, what is too much, and what the session's rule says; answers whether it is settled. */
const decide = async (
  tx: Tx,
  given: {
    readonly row: InteractionRow;
    readonly session: SessionRow;
    readonly ask: InteractionAsk;
    readonly said: Asks['ask'];
    readonly policy: PolicyNote | null;
    readonly waiting: number;
    readonly live: Live;
    readonly nowMs: number;
  },
): Promise<boolean> => {
  const { row, session, ask, said, policy, waiting, nowMs } = given;
  const told = { told: false, nowMs } as const;
  if (policy !== null && (await settleByPolicy(tx, { row, ask, policy, session, nowMs }))) return true;
  // What a rule has asked is asked in each mode.
  if (policy === null && allowsByItself(session.mode, said, given.live.environment.workdir))
    return settleInteraction(tx, row, { outcome: 'approved', by: `mode "${session.mode}"`, message: null, ...told });
  if (waiting >= SESSION_OPEN_ASKS) {
    const message = `${waiting} questions wait already; none more is taken.`;
    return settleInteraction(tx, row, { outcome: 'denied', by: 'the node', message, ...told });
  }
  return settleByRule(tx, row, { rule: session.unattended as Unattended, nowMs });
};

/** Settles what waits already, when its session declared a rule since. */
export const applyRule = async (parts: SessionConductorParts, session: SessionRow): Promise<void> => {
  const rule = session.unattended as Unattended;
  if (rule === 'wait') return;
  const open = await listInteractions(parts.store.read, { sessionId: session.id, all: false, limit: EVERY_ASK });
  if (open.length === 0) return;
  const nowMs = parts.clock.nowMs();
  await parts.store.transaction(async (tx) => {
    for (const row of open) await settleByRule(tx, row, { rule, nowMs });
  });
};

/** The program no longer asks. */
export const withdrawAsk = async (
  tx: Tx,
  live: Live,
  { key, nowMs }: { readonly key: string; readonly nowMs: number },
): Promise<void> => {
  const open = await listInteractions(tx.db, { sessionId: live.sessionId, all: false, limit: EVERY_ASK });
  const row = open.find((one) => one.key === key && one.generation === live.generation);
  if (row === undefined) return;
  await settleInteraction(tx, row, { outcome: 'withdrawn', by: null, message: null, told: true, nowMs });
  await afterAnswer(tx, live.sessionId, nowMs);
};

/** A session waits as long as something is asked. */
const afterAnswer = async (tx: Tx, sessionId: string, nowMs: number): Promise<void> => {
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
