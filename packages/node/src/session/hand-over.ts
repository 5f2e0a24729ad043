// A conversation goes on with another program: a session of its own in the same environment, which begins with a record of
// what was said. Both rows change in one transaction.

import { keptAgent } from '../store/kept-agent.ts';
import { OrreryError, type SessionHandOver } from '@orrery/protocol';
import type { Tx } from '../store/store.ts';
import { firstTurn, sameIntent, tellBegun, unbegun } from './begin.ts';
import { checkLine, isWords, refuse } from './inputs.ts';
import { whyNotStill } from './checkpoint.ts';
import type { Admitted, SessionParts } from './doors.ts';
import { handOverRecord } from './hand-over-record.ts';
import { sessionNotFound, type SessionRow, type TurnRow } from './model.ts';
import {
  changeSession,
  findSession,
  insertSession,
  insertTurn,
  lastNumbers,
  newestSequence,
  openTurns,
  sessionByRequest,
} from './store.ts';
import { refuseExpired } from './tombstones.ts';

type HandingOver = {
  readonly session: SessionRow;
  readonly asked: SessionHandOver;
  readonly requestId: string;
  readonly hash: string;
};

/** The new session; the other one ends, and what waited in it waits in the new one. */
export const handOver = async (
  parts: SessionParts,
  { session, asked, requestId, hash }: HandingOver,
): Promise<{ readonly row: SessionRow; readonly replayed: boolean }> => {
  if (asked.prompt !== undefined) checkLine(asked.prompt);
  refuse(whyStays(session, await openTurns(parts.store.read, session.id)));
  refuse(whyHeld(session));
  const admitted = await parts.admit(wishOf(session, asked));
  parts.checkRoom();
  const files = await parts.changedFiles(session.id);
  const until = await newestSequence(parts.store.read, session.key);
  const record = await handOverRecord(parts.store, session, { until, why: 'handed-over', files });
  // Its environment is there, and whoever is away stays away.
  const { egress: _, unattended: __, ...program } = admitted;
  const bounds = { ...program, ...(await leftOf(parts, session, admitted)) };
  const id = parts.ids('session');
  return parts.store.transaction(async (tx) => {
    const known = sameIntent(await sessionByRequest(tx.db, requestId), { requestId, hash });
    if (known !== null) return { row: known, replayed: true };
    await refuseExpired(tx.db, { requestId, kind: 'session' });
    const old = await findSession(tx.db, session.id);
    if (old === null) throw sessionNotFound(session.id);
    const open = await openTurns(tx.db, old.id);
    refuse(whyStays(old, open));
    if ((await newestSequence(tx.db, old.key)) !== until) throw spokeMeanwhile(old);
    const nowMs = parts.clock.nowMs();
    await insertSession(tx.db, {
      ...unbegun({ id, requestId, hash, nowMs }),
      ...heirOf(old),
      ...bounds,
      ...named(old, asked),
      record,
    });
    await moveInputs(parts, tx, { from: open, to: id, prompt: asked.prompt, requestId, nowMs });
    await changeSession(tx, old.id, { handed_to: id, wanted: 'end', held: 0, nowMs });
    await tellBoth(tx, { old, id, harness: admitted.harness });
    const row = await findSession(tx.db, id);
    if (row === null) throw sessionNotFound(id);
    return { row, replayed: false };
  });
};

/** Why a conversation stays with its program, or null. */
const whyStays = (session: SessionRow, open: readonly TurnRow[]): OrreryError | null => {
  if (session.ended_at !== null || session.wanted === 'end')
    return new OrreryError('conflict', `The session ${session.name} has ended.`, {
      rule: 'A conversation is handed over once, before it ends.',
      fix: `orrery session show ${session.handed_to ?? session.name}`,
    });
  const bound = open.find((turn) => turn.state === 'pending' && !isWords(turn));
  if (bound === undefined) return whyNotStill(session, open);
  return new OrreryError('conflict', `The input ${bound.id} that waits in ${session.name} is for its own program.`, {
    rule: 'Words that wait go along; commands, and inputs with files, are answered or taken back first.',
    fix: `orrery session remove ${session.name} ${bound.id}`,
  });
};

const spokeMeanwhile = ({ name }: SessionRow): OrreryError =>
  new OrreryError('conflict', `Something happened in the session ${name} while its record was written.`, {
    rule: 'A conversation is handed over between its turns. Nothing was changed.',
    fix: `orrery session show ${name}`,
  });

/** The agent stays behind: a program without its lists would have more than its file allows. */
const whyHeld = (session: SessionRow): OrreryError | null => {
  const agent = keptAgent(session);
  if (agent?.tools == null) return null;
  return new OrreryError('unsupported', `The agent ${agent.name} of the session ${session.name} has lists of tools.`, {
    rule: 'They are names of its own program; nobody goes on with more than its file allows.',
    fix: `orrery session start --agent ${agent.name}`,
  });
};

/** What is asked of the other program; the mode stays as it was. */
const wishOf = (session: SessionRow, asked: SessionHandOver): Parameters<SessionParts['admit']>[0] => ({
  environment: session.environment_id,
  harness: asked.harness,
  mode: asked.mode ?? (session.mode as NonNullable<SessionHandOver['mode']>),
  ...(asked.model === undefined ? {} : { model: asked.model }),
  ...(asked.effort === undefined ? {} : { effort: asked.effort }),
});

/** A bound is one of the conversation: what was spent of it is gone. */
const leftOf = async (
  parts: SessionParts,
  { id, budget_usd: budget, max_turns: turns }: SessionRow,
  admitted: Admitted,
): Promise<Pick<Admitted, 'budget_usd' | 'max_turns'>> => {
  const { turn } = await lastNumbers(parts.store.read, id);
  const spent = (await parts.usageOf(id)).costUsd ?? 0;
  return {
    budget_usd: budget === null ? admitted.budget_usd : Math.max(0, budget - spent),
    max_turns: turns === null ? admitted.max_turns : Math.max(0, turns - turn),
  };
};

/** What it has of the one before. */
const heirOf = (old: SessionRow) => ({
  title: old.title,
  title_from: old.title_from,
  project_id: old.project_id,
  environment_id: old.environment_id,
  owns_environment: old.owns_environment,
  unattended: old.unattended,
  handed_from: old.id,
});

/** It keeps its name: who asks for it by name means the one that goes on. */
const named = (old: SessionRow, { name }: SessionHandOver): Pick<SessionRow, 'name' | 'name_given'> =>
  name === undefined ? { name: old.name, name_given: old.name_given } : { name, name_given: 1 };

const moveInputs = async (
  parts: SessionParts,
  tx: Tx,
  given: {
    readonly from: readonly TurnRow[];
    readonly to: string;
    readonly prompt: string | undefined;
    readonly requestId: string;
    readonly nowMs: number;
  },
): Promise<void> => {
  const { from, to, prompt, requestId, nowMs } = given;
  const waiting = from.filter(({ state }) => state === 'pending').map(({ id }) => id);
  if (waiting.length > 0)
    await tx.db.updateTable('turn').set({ session_id: to, kind: 'prompt', record: null }).where('id', 'in', waiting).execute();
  if (prompt === undefined) return;
  // What is said with the handing over comes first.
  const position = Math.min(1, ...from.map((turn) => turn.position)) - 1;
  await insertTurn(tx.db, firstTurn(parts, to, { text: prompt, requestId, position, nowMs }));
};

const tellBoth = async (
  tx: Tx,
  { old, id, harness }: { readonly old: SessionRow; readonly id: string; readonly harness: string },
): Promise<void> => {
  const notice = (sessionId: string, text: string) =>
    ({ taskId: null, sessionId, turn: null, body: { kind: 'notice', level: 'info', text } }) as const;
  await tellBegun(tx, id);
  await tx.append([
    notice(old.id, `The conversation goes on with ${harness}, as the session ${id}.`),
    notice(id, `It was handed over by ${old.harness}, from the session ${old.id}: its first input comes with a record of it.`),
  ]);
};
