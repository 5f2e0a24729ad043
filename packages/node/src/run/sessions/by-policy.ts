// What the policies decide of something that is asked, and of what waits already when they change.

import type { InteractionAsk, PolicyNote } from '@orrery/protocol';
import { appendAudit } from '../../audit/index.ts';
import { askOf, findInteraction, listInteractions, settleInteraction, type InteractionRow } from '../../interaction/index.ts';
import { findSession, type SessionRow } from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';
import { EVERY_ASK } from './asks.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { isLeaseLost } from './leases.ts';
import { rulesOf } from './rules.ts';

/** Settles what a policy allows or denies, and records it; what cannot be shown whole is not allowed. */
export const settleByPolicy = async (
  tx: Tx,
  given: {
    readonly row: InteractionRow;
    readonly ask: InteractionAsk;
    readonly policy: PolicyNote;
    readonly session: SessionRow;
    readonly nowMs: number;
  },
): Promise<boolean> => {
  const { row, ask, policy, session, nowMs } = given;
  const { verdict, rule, file, text } = policy;
  if (verdict === 'ask' || (verdict === 'allow' && !ask.outcomes.includes('approved'))) return false;
  const by = `rule:${rule ?? ''}`;
  const outcome = verdict === 'allow' ? 'approved' : 'denied';
  const message = verdict === 'allow' ? null : `The rule "${rule ?? ''}" denies it: ${text}`;
  const detail = { session: session.id, harness: session.harness, kind: ask.kind, file };
  await appendAudit(
    tx.db,
    {
      ...{ actor: by, action: `approval.${verdict}`, subject: row.id },
      ...{ outcome: verdict === 'allow' ? 'done' : 'refused', detail },
    },
    nowMs,
  );
  return settleInteraction(tx, row, { outcome, by, message, told: false, nowMs });
};

/** A program that runs, and what it is talked to with: only as long as its session is held. */
type Held = { readonly live: Live; readonly held: SessionConductorParts };

/**
 * Looks again at all that waits in sessions whose programs run here, where the operator's files are others than when it was
 * looked at last. What they allow or deny now is settled as if it were asked now; the rest waits on. Answers the sessions
 * whose programs have something to hear.
 */
export const judgeAgain = async (parts: SessionConductorParts, lives: readonly Held[]): Promise<readonly string[]> => {
  if (lives.length === 0) return [];
  const open = await listInteractions(parts.store.read, { all: false, limit: EVERY_ASK });
  if (open.length === 0) return [];
  const stamp = await parts.policies.stamp();
  const settled: string[] = [];
  for (const { live, held } of lives) {
    const mine = open.filter((row) => row.session_id === live.sessionId && row.generation === live.generation);
    // Once for each state of the files and of what waits: it comes to the same.
    const judged = [stamp, ...mine.map(({ id, revision }) => `${id}:${revision}`)].join(' ');
    if (mine.length === 0 || live.judged === judged) continue;
    try {
      if (await judge(held, live, mine)) settled.push(live.sessionId);
    } catch (thrown) {
      // Another node has it: it looks for itself.
      if (!isLeaseLost(thrown)) throw thrown;
    }
    live.judged = judged;
  }
  return settled;
};

const judge = async (parts: SessionConductorParts, live: Live, open: readonly InteractionRow[]): Promise<boolean> => {
  const rules = await rulesOf(parts, live);
  if (rules === null) return false;
  const decided = open.flatMap((row) => {
    const policy = rules(askOf(row));
    return policy === null || policy.verdict === 'ask' ? [] : [{ row, policy }];
  });
  if (decided.length === 0) return false;
  const nowMs = parts.clock.nowMs();
  return parts.store.transaction(async (tx) => {
    let some = false;
    for (const { row, policy } of decided) {
      const session = await findSession(tx.db, live.sessionId);
      const now = await findInteraction(tx.db, row.id);
      // Answered, withdrawn or asked otherwise meanwhile: what was decided is not about that.
      if (session === null || session.ended_at !== null || now?.state !== 'open' || now.revision !== row.revision) continue;
      if (await settleByPolicy(tx, { row: now, ask: askOf(now), policy, session, nowMs })) some = true;
    }
    return some;
  });
};
