import {
  OrreryError,
  type AttachmentView,
  type OperationCall,
  type SessionCreate,
  type SessionFork,
  type SessionHandOver,
  type SessionView,
  type TurnCreate,
  type TurnView,
} from '@orrery/protocol';
import { intentHash } from '../kernel/intent.ts';
import type { Tx } from '../store/store.ts';
import { begin, sameIntent } from './begin.ts';
import { setSession, type SessionChange } from './changes.ts';
import { attachmentsOf } from './attachment-store.ts';
import { takeAttachment, toAttachment } from './attachments.ts';
import { awaitClosed } from './closing.ts';
import type { SessionParts } from './doors.ts';
import { forkSession } from './fork.ts';
import { handOver } from './hand-over.ts';
import { sendNow } from './send-now.ts';
import { addTurn, askInterrupt, editTurn, refuse, reorder, retryTurn, takeBack, tellQueue } from './inputs.ts';
import {
  forkedFrom,
  isActive,
  sessionNotFound,
  toSession,
  toTurn,
  turnNotFound,
  whyClosed,
  whyNotWaiting,
  whyOther,
  type SessionRow,
  type TurnRow,
} from './model.ts';
import {
  changeSession,
  endedTurns,
  findSession,
  findSessions,
  findTurn,
  listSessions,
  newestSequence,
  openTurns,
  sessionByRequest,
  updateTurn,
} from './store.ts';
import { refuseDeleted, refuseExpired } from './tombstones.ts';
import { createTranscripts, type Transcripts } from './transcript.ts';

/** Use cases of sessions; one transaction each. A reference is an id, the beginning of one, or a name. */
export type Sessions = {
  create(asked: SessionCreate): Promise<SessionView>;
  list(query: OperationCall<'sessionList'>['query']): Promise<{ items: SessionView[]; nextCursor: string | null; seq: number }>;
  /** Reading what was said. */
  readonly transcripts: Transcripts;
  find(reference: string): Promise<SessionRow>;
  show(reference: string): Promise<SessionView>;
  set(reference: string, change: SessionChange): Promise<SessionView>;
  interrupt(reference: string): Promise<SessionView>;
  /** Puts it to sleep, or ends it for good. */
  leave(reference: string, how: 'close' | 'end'): Promise<SessionView>;
  /** Leaves it, and answers when nothing of it runs. @throws OrreryError close_pending */
  close(reference: string): Promise<SessionView>;
  /** What waits in one that was closed is sent again. @throws OrreryError conflict for one that ended */
  resume(reference: string): Promise<SessionView>;
  /** Another program goes on; answers the session that does. */
  handOver(reference: string, asked: SessionHandOver): Promise<SessionView>;
  /** Another session parts from it; answers that one. */
  fork(reference: string, asked: SessionFork): Promise<SessionView>;
  addTurn(reference: string, asked: TurnCreate): Promise<TurnView>;
  attach(reference: string, given: Attaching): Promise<AttachmentView>;
  attachments(reference: string): Promise<AttachmentView[]>;
  turns(reference: string): Promise<TurnView[]>;
  setTurn(reference: string, turn: string, change: OperationCall<'turnSet'>['body']): Promise<TurnView>;
  /** Before all others: into the turn that runs, or instead of it where the program takes no words there. */
  sendNow(reference: string, turn: string): Promise<TurnView>;
  removeTurn(reference: string, turn: string): Promise<TurnView>;
  decide(reference: string, turn: string, decision: 'retry' | 'discard'): Promise<TurnView>;
};

type Attaching = { readonly name: string; readonly requestId?: string | undefined; readonly body: AsyncIterable<Uint8Array> };

/** Inputs that are over and are still shown with those that wait. */
const SHOWN_ENDED = 50;

export const createSessions = (parts: SessionParts): Sessions => {
  const { store, clock } = parts;
  const find = async (reference: string): Promise<SessionRow> => {
    const [first, second] = await findSessions(store.read, reference);
    if (first === undefined) {
      await parts.refuseAttached(reference);
      await refuseDeleted(store.read, reference);
      throw sessionNotFound(reference);
    }
    if (second !== undefined && first.id !== reference && second.ended_at === null && second.wanted !== 'end')
      throw new OrreryError('ambiguous', `More than one session is called ${reference.slice(0, 200)}.`, {
        rule: 'A name may be used again; an id is one session.',
        fix: 'orrery session list',
      });
    return first;
  };

  const view = async (row: SessionRow, replayed = false): Promise<SessionView> => {
    const [projects, environments, open] = await Promise.all([
      parts.projectsById([row.project_id]),
      parts.environmentsById([row.environment_id]),
      openTurns(store.read, row.id),
    ]);
    const gone = { id: row.environment_id, name: '(deleted)', backend: '', state: 'deleted' };
    return toSession(row, {
      seq: store.seq(),
      sequence: await newestSequence(store.read, row.key),
      project: projects.get(row.project_id) ?? { id: row.project_id, name: '(removed)' },
      environment: environments.get(row.environment_id) ?? gone,
      turn: open.find((turn) => isActive(turn) && turn.kind === 'prompt')?.turn ?? null,
      queued: open.filter(({ state }) => state === 'pending').length,
      uncertain: open.filter(({ state }) => state === 'uncertain').length,
      interactions: await parts.openInteractions(row.id),
      limit: await parts.accountLimit(row),
      usage: await parts.usageOf(row.id),
      forks: parts.forkOf(row.harness),
      replayed,
    });
  };
  const after = async (id: string): Promise<SessionView> => {
    const row = await findSession(store.read, id);
    if (row === null) throw sessionNotFound(id);
    return view(row);
  };

  /** Changes a session in one transaction and has its conductor look. */
  const change = async (
    reference: string,
    work: (tx: Tx, row: SessionRow, nowMs: number) => Promise<void>,
  ): Promise<SessionView> => {
    const { id } = await find(reference);
    await store.transaction(async (tx) => {
      const row = await findSession(tx.db, id);
      if (row !== null) await work(tx, row, clock.nowMs());
    });
    parts.conductor().wake(id);
    return after(id);
  };

  /** The same for one of its inputs. */
  const changeTurn = async (
    reference: string,
    turn: string,
    work: (tx: Tx, found: TurnRow, nowMs: number) => Promise<void>,
  ): Promise<TurnView> => {
    const { id } = await find(reference);
    const changed = await store.transaction(async (tx) => {
      const found = await findTurn(tx.db, id, turn);
      if (found === null) throw turnNotFound(turn);
      await work(tx, found, clock.nowMs());
      await tellQueue(tx, id);
      return (await findTurn(tx.db, id, found.id)) ?? found;
    });
    parts.conductor().wake(id);
    return toTurn(changed, false);
  };

  const leave = (reference: string, how: 'close' | 'end'): Promise<SessionView> =>
    change(reference, async (tx, row, nowMs) => {
      if (row.ended_at !== null) return;
      // One that failed begins anew when it is closed: a person has seen why.
      const again =
        row.state === 'failed' && how === 'close' ? ({ state: 'dormant', reason: null, failed_starts: 0 } as const) : {};
      await changeSession(tx, row.id, { wanted: how, held: how === 'close' ? 1 : 0, ...again, nowMs });
    });

  return {
    transcripts: createTranscripts(parts, find),
    find,
    show: async (reference) => view(await find(reference)),
    create: async (asked) => {
      const requestId = asked.requestId ?? parts.ids('request');
      const { requestId: _, ...intent } = asked;
      // A request without a mode is the same as ever.
      const hash = intentHash(
        asked.agent === undefined ? { ...intent, unattended: intent.unattended ?? 'wait', mode: intent.mode ?? 'ask' } : intent,
      );
      const known = sameIntent(await sessionByRequest(store.read, requestId), { requestId, hash });
      if (known !== null) return view(known, true);
      await refuseExpired(store.read, { requestId, kind: 'session' });
      const { row, replayed } = await begin(parts, { asked, requestId, hash });
      if (!replayed) parts.conductor().wake(row.id);
      return view(row, replayed);
    },
    list: async ({ project, state, limit, cursor }) => {
      const projectId = project === undefined ? undefined : (await parts.resolveProject(project)).id;
      const before = cursor === undefined ? null : Number(cursor);
      const rows = await listSessions(store.read, {
        limit,
        before,
        ...(state === undefined ? {} : { state }),
        ...(projectId === undefined ? {} : { projectId }),
      });
      const nextCursor = rows.length === limit ? String(rows.at(-1)?.key ?? '') : null;
      return { items: await Promise.all(rows.map((row) => view(row))), nextCursor, seq: store.seq() };
    },
    set: async (reference, wanted) => {
      const view = await change(reference, (tx, row, nowMs) => setSession(parts, tx, { row, wanted, nowMs }));
      if (wanted.budgetUsd !== undefined) parts.budgetTold(view.id);
      return view;
    },
    interrupt: (reference) => change(reference, (tx, row, nowMs) => askInterrupt(tx, row, nowMs)),
    leave,
    close: async (reference) => {
      const { id } = await leave(reference, 'close');
      await awaitClosed(parts, id);
      return after(id);
    },
    resume: (reference) =>
      change(reference, async (tx, row, nowMs) => {
        refuse(whyClosed(row));
        const limit = await parts.accountLimit(row);
        await changeSession(tx, row.id, { held: 0, past_limit: limit?.metAt ?? null, nowMs });
      }),
    handOver: async (reference, { requestId = parts.ids('request'), ...asked }) => {
      const known = await sessionByRequest(store.read, requestId);
      const from = known?.handed_from ?? (await find(reference)).id;
      const hash = intentHash({ handOver: from, ...asked });
      const same = sameIntent(known, { requestId, hash });
      if (same !== null) return view(same, true);
      await refuseExpired(store.read, { requestId, kind: 'session' });
      const { row, replayed } = await handOver(parts, { session: await find(from), asked, requestId, hash });
      for (const id of [from, row.id]) parts.conductor().wake(id);
      return view(row, replayed);
    },
    fork: async (reference, { requestId = parts.ids('request'), ...asked }) => {
      const known = await sessionByRequest(store.read, requestId);
      const from = (known === null ? null : forkedFrom(known)) ?? (await find(reference)).id;
      const hash = intentHash({ fork: from, ...asked });
      const same = sameIntent(known, { requestId, hash });
      if (same !== null) return view(same, true);
      await refuseExpired(store.read, { requestId, kind: 'session' });
      const { row, replayed } = await forkSession(parts, { session: await find(from), asked, requestId, hash });
      if (!replayed) parts.conductor().parted({ id: row.id, environmentId: row.environment_id });
      return view(row, replayed);
    },
    addTurn: async (reference, asked) => {
      const row = await find(reference);
      // By its name it may be meant for one that was deleted.
      if (
        asked.requestId !== undefined &&
        !reference.startsWith('ses_') &&
        (await findTurn(store.read, row.id, asked.requestId)) === null
      )
        await refuseExpired(store.read, { requestId: asked.requestId, kind: 'turn' });
      const { turn, replayed } = await addTurn(parts, row, asked);
      if (!replayed) parts.conductor().wake(row.id);
      return toTurn(turn, replayed);
    },
    attach: async (reference, { name, requestId, body }) => {
      return takeAttachment(parts, await find(reference), { name, requestId: requestId ?? parts.ids('request'), body });
    },
    attachments: async (reference) => {
      const { id } = await find(reference);
      return (await attachmentsOf(store.read, id)).map((row) => toAttachment(row, false));
    },
    turns: async (reference) => {
      const { id } = await find(reference);
      const rows = [...(await openTurns(store.read, id)), ...(await endedTurns(store.read, id, SHOWN_ENDED))];
      return rows.map((row) => toTurn(row, false));
    },
    setTurn: (reference, turn, { text, was, position }) =>
      changeTurn(reference, turn, async (tx, found) => {
        refuse(whyNotWaiting(found) ?? whyOther(found, was));
        if (text !== undefined) await editTurn(tx, found, text);
        if (position !== undefined) await reorder(tx, found, position);
      }),
    sendNow: (reference, turn) => changeTurn(reference, turn, (tx, found, nowMs) => sendNow(parts, tx, { turn: found, nowMs })),
    removeTurn: (reference, turn) =>
      changeTurn(reference, turn, async (tx, found, nowMs) => {
        refuse(whyNotWaiting(found));
        await takeBack(tx, found, nowMs);
      }),
    decide: (reference, turn, decision) =>
      changeTurn(reference, turn, async (tx, found, nowMs) => {
        if (found.state !== 'uncertain')
          throw new OrreryError('conflict', `The input ${found.id} is ${found.state}, not uncertain.`, {
            rule: 'Only an input of which nobody knows whether it reached the program is decided by a person.',
          });
        if (decision === 'retry') return retryTurn(tx, found);
        return updateTurn(tx.db, found.id, { state: 'ended', outcome: 'uncertain', reason: 'discarded', ended_at: nowMs });
      }),
  };
};
