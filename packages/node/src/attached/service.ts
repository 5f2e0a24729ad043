import { OrreryError, type AttachedCreate, type AttachedView, type Caller, type OperationCall } from '@orrery/protocol';
import { appendAudit } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { intentHash } from '../kernel/intent.ts';
import { ATTACHED_SESSIONS, ATTACHED_SILENT_MS } from './limits.ts';
import type { Store, Tx } from '../store/store.ts';
import {
  attachedNotFound,
  isSilent,
  nameOf,
  notOurs,
  toAttached,
  whyNotIts,
  whyOver,
  type AttachedRow,
  type Heard,
} from './model.ts';
import {
  attachedByRequest,
  findAttached,
  forgetOldest,
  insertAttached,
  listAttached,
  liveAttached,
  updateAttached,
} from './store.ts';

export type AttachedParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly ids: Ids;
  /** Throws `unknown_name` for a harness that the node does not know. */
  checkHarness(harness: string): void;
  /** The definition of an agent as it is now, as JSON. @throws OrreryError not_found */
  keepAgent(name: string): Promise<string | null>;
};

/** Use cases of attached sessions; one transaction each. A reference is an id, the beginning of one, or a name. */
export type Attached = {
  /** Attaches a program; the same request again answers the same session. @throws OrreryError limit_reached, request_conflict */
  begin(asked: AttachedCreate, caller: Caller): Promise<AttachedView>;
  /** Its process lives. @throws OrreryError conflict once it has ended, forbidden for another token */
  hear(reference: string, said: { readonly program?: string | undefined }, caller: Caller): Promise<AttachedView>;
  /** Its process ends. Repeatable. @throws OrreryError forbidden for another token */
  leave(reference: string, caller: Caller): Promise<AttachedView>;
  list(query: OperationCall<'attachedList'>['query']): Promise<{ items: AttachedView[]; nextCursor: string | null; seq: number }>;
  show(reference: string): Promise<AttachedView>;
  /** Throws unless it lives and this caller speaks for it. */
  checkIts(id: string, caller: Caller): Promise<void>;
  /** Throws `unsupported` when it names one: nothing that is done to a conversation can be done to it. */
  refuse(reference: string): Promise<void>;
  /** Whether an id is one that lives, one that has ended, or none (null). */
  stateOf(id: string): Promise<AttachedView['state'] | null>;
  /** Ends those whose process is silent. Those of an earlier start of the node have as long as ever, from this start on. */
  look(): Promise<void>;
};

/** In the words of people. */
const SILENT = `its process was not heard of for ${ATTACHED_SILENT_MS / 1000} seconds`;

export const createAttached = (parts: AttachedParts): Attached => {
  const { store, clock } = parts;
  const begunMs = clock.monotonicMs();
  const heard = new Map<string, Heard>();

  const view = (row: AttachedRow, replayed = false): AttachedView =>
    toAttached(row, { seq: store.seq(), heard: heard.get(row.id) ?? null, replayed });
  const hearOf = (id: string): void => void heard.set(id, { atMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
  const find = async (reference: string): Promise<AttachedRow> => {
    const row = await findAttached(store.read, reference);
    if (row === null) throw attachedNotFound(reference);
    return row;
  };
  /** The row, of who speaks for it. */
  const its = async (reference: string, caller: Caller): Promise<AttachedRow> => {
    const row = await find(reference);
    const why = whyNotIts(row, caller);
    if (why !== null) throw why;
    return row;
  };
  const over = async (
    id: string,
    { reason, actor }: { readonly reason: string; readonly actor: string },
  ): Promise<AttachedRow> => {
    await store.transaction((tx) => endAttached(tx, id, { reason, actor, nowMs: clock.nowMs() }));
    heard.delete(id);
    return find(id);
  };

  return {
    begin: async (asked, caller) => {
      const requestId = asked.requestId ?? parts.ids('request');
      const { requestId: _, ...intent } = asked;
      const hash = intentHash({ attach: intent, by: caller.token ?? caller.name });
      const known = sameIntent(await attachedByRequest(store.read, requestId), { requestId, hash });
      if (known !== null) return view(known, true);
      if (asked.harness !== undefined) parts.checkHarness(asked.harness);
      const agent = asked.agent === undefined ? null : await parts.keepAgent(asked.agent);
      const id = parts.ids('session');
      const made = await store.transaction((tx) =>
        attach(tx, { id, requestId, hash, asked, agent, caller, nowMs: clock.nowMs() }),
      );
      if (!made.replayed) hearOf(id);
      return view(made.row, made.replayed);
    },
    hear: async (reference, { program }, caller) => {
      const row = await its(reference, caller);
      const why = whyOver(row);
      if (why !== null) throw why;
      hearOf(row.id);
      if (program === undefined || program === row.program) return view(row);
      await store.transaction(async (tx) => {
        await updateAttached(tx.db, row.id, { program });
        await tell(tx, row.id, 'attached');
      });
      return view({ ...row, program });
    },
    leave: async (reference, caller) => {
      const row = await its(reference, caller);
      if (row.ended_at !== null) return view(row);
      return view(await over(row.id, { reason: 'its process ended', actor: `token:${caller.name}` }));
    },
    list: async ({ limit, cursor, state }) => {
      const before = cursor === undefined ? null : Number(cursor);
      const rows = await listAttached(store.read, { limit, before, ...(state === undefined ? {} : { state }) });
      const nextCursor = rows.length === limit ? String(rows.at(-1)?.key ?? '') : null;
      return { items: rows.map((row) => view(row)), nextCursor, seq: store.seq() };
    },
    show: async (reference) => view(await find(reference)),
    checkIts: async (id, caller) => {
      const why = whyOver(await its(id, caller));
      if (why !== null) throw why;
    },
    refuse: async (reference) => {
      const row = await findAttached(store.read, reference);
      if (row !== null) throw notOurs(row);
    },
    stateOf: async (id) => {
      const row = await findAttached(store.read, id);
      return row === null || row.id !== id ? null : view(row).state;
    },
    look: async () => {
      for (const { id } of await liveAttached(store.read))
        if (isSilent(heard.get(id) ?? { monotonicMs: begunMs }, clock.monotonicMs()))
          await over(id, { reason: SILENT, actor: 'node' });
    },
  };
};

/** The session that the same request made before; null: none. */
const sameIntent = (
  known: AttachedRow | null,
  { requestId, hash }: { readonly requestId: string; readonly hash: string },
): AttachedRow | null => {
  if (known === null || known.intent_hash === hash) return known;
  throw new OrreryError('request_conflict', `Request ${requestId} was used for another attached session.`, {
    rule: 'One request id stands for one intent; the same id with the same intent gets the same answer.',
    fix: 'Leave the request id out, or choose a new one.',
  });
};

type Attaching = {
  readonly id: string;
  readonly requestId: string;
  readonly hash: string;
  readonly asked: AttachedCreate;
  readonly agent: string | null;
  readonly caller: Caller;
  readonly nowMs: number;
};

const attach = async (
  tx: Tx,
  { id, requestId, hash, asked, agent, caller, nowMs }: Attaching,
): Promise<{ readonly row: AttachedRow; readonly replayed: boolean }> => {
  // Two of the same request may have come this far.
  const known = sameIntent(await attachedByRequest(tx.db, requestId), { requestId, hash });
  if (known !== null) return { row: known, replayed: true };
  if ((await liveAttached(tx.db)).length >= ATTACHED_SESSIONS)
    throw new OrreryError('limit_reached', 'Too many programs are attached.', {
      rule: `At most ${ATTACHED_SESSIONS} at once.`,
      fix: 'Close one of them: orrery session list',
    });
  const name = asked.name ?? nameOf(id, asked);
  const { harness = null, program = null, folder = null } = asked;
  await insertAttached(tx.db, {
    ...{ id, request_id: requestId, intent_hash: hash, name, harness, agent, program, folder },
    ...{ token_id: caller.token ?? null, made_by: caller.name, reason: null, created_at: nowMs, ended_at: null },
  });
  await forgetOldest(tx.db);
  const detail = { name, harness, agent: asked.agent ?? null };
  await appendAudit(
    tx.db,
    { actor: `token:${caller.name}`, action: 'session.attach', subject: id, outcome: 'done', detail },
    nowMs,
  );
  await tell(tx, id, 'attached');
  const row = await findAttached(tx.db, id);
  if (row === null) throw attachedNotFound(id);
  return { row, replayed: false };
};

const endAttached = async (
  tx: Tx,
  id: string,
  { reason, actor, nowMs }: { readonly reason: string; readonly actor: string; readonly nowMs: number },
): Promise<void> => {
  const row = await findAttached(tx.db, id);
  if (row === null || row.ended_at !== null) return;
  await updateAttached(tx.db, id, { reason, ended_at: nowMs });
  await appendAudit(tx.db, { actor, action: 'session.detach', subject: id, outcome: 'done', detail: { reason } }, nowMs);
  await tell(tx, id, 'ended');
};

const tell = (tx: Tx, sessionId: string, state: AttachedView['state']): Promise<unknown> =>
  tx.append([{ taskId: null, turn: null, body: { kind: 'attached.changed', sessionId, state } }]);
