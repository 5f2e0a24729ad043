import type { CheckpointView, SessionRewind, SessionRewound, SessionView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import type { Store, Tx } from '../store/store.ts';
import { checkpointNotFound, goesNatively, operationOf, toCheckpoint, whyNotStill, type Rewinding } from './checkpoint.ts';
import { checkpointsOf, findCheckpoint, type CheckpointRow } from './checkpoint-store.ts';
import type { SessionConductor } from './doors.ts';
import { refuse } from './inputs.ts';
import { isActive, sessionNotFound, whyClosed, type SessionRow } from './model.ts';
import type { Sessions } from './service.ts';
import { changeSession, findSession, liveSessions, newestOfKind, openTurns } from './store.ts';
import { REWIND_MS } from './limits.ts';
import { removeSession, type RemovalParts } from './removal.ts';

/** What the use cases here need. */
export type HistoryParts = Omit<RemovalParts, 'clock' | 'sessions'> & {
  readonly store: Store;
  readonly clock: { nowMs(): number; sleep(ms: number): Promise<void> };
  readonly sessions: Pick<Sessions, 'find' | 'show'>;
  /** How the program of a harness takes a conversation back. */
  canRewind(harness: string): 'native' | 'replaced';
  conductor(): SessionConductor;
};

type RewindCheck = (tx: Tx, session: SessionRow) => Promise<void>;

/** Use cases of a session as a whole: it goes back, and away. A reference is an id, the beginning of one, or a name. */
export type SessionHistory = {
  checkpoints(reference: string): Promise<CheckpointView[]>;
  checkpoint(reference: string): Promise<CheckpointView>;
  /** Resolves when it is there. Rejects with why not; then nothing was lost, and what was saved is named. */
  /** `check` refuses in the transaction that records it. */
  rewind(reference: string, asked: SessionRewind, check?: RewindCheck): Promise<SessionRewound>;
  /** Deletes one that is over, with everything that was said in it. */
  remove(reference: string): Promise<void>;
};

export const createSessionHistory = (parts: HistoryParts): SessionHistory => {
  const { store, sessions } = parts;
  const viewOf = (session: SessionRow, row: CheckpointRow): CheckpointView => toCheckpoint(row, parts.canRewind(session.harness));
  return {
    checkpoints: async (reference) => {
      const session = await sessions.find(reference);
      return (await checkpointsOf(store.read, session.id)).map((row) => viewOf(session, row));
    },
    checkpoint: async (reference) => {
      const session = await sessions.find(reference);
      refuse(whyNotStill(session, await openTurns(store.read, session.id)));
      const id = await parts.conductor().checkpoint(session.id);
      const row = await findCheckpoint(store.read, session.id, id);
      if (row === null) throw checkpointNotFound(session.name, id);
      return viewOf(session, row);
    },
    rewind: async (reference, asked, check) => {
      const { id } = await sessions.find(reference);
      const target = await store.transaction((tx) => recordRewinding(parts, tx, { id, asked, check }));
      parts.conductor().wake(id);
      const session = await untilDone(parts, id);
      const told = await newestOfKind(store.read, session.key, 'rewound');
      if (told?.kind !== 'rewound' || told.checkpointId !== target.id || session.operation !== null) throw notRewound(session);
      const before = await findCheckpoint(store.read, id, told.beforeId);
      if (before === null) throw checkpointNotFound(session.name, told.beforeId);
      const { saved, replaced } = told;
      const view: SessionView = await sessions.show(id);
      return { session: view, checkpoint: viewOf(session, target), before: viewOf(session, before), saved, replaced };
    },
    remove: (reference) => removeSession(parts, reference),
  };
};

/** What is asked for stands in the session's row before anything is done; its program is put to sleep. */
const recordRewinding = async (
  parts: HistoryParts,
  tx: Tx,
  {
    id,
    asked: { to, what },
    check,
  }: { readonly id: string; readonly asked: SessionRewind; readonly check: RewindCheck | undefined },
): Promise<CheckpointRow> => {
  const session = await findSession(tx.db, id);
  if (session === null) throw sessionNotFound(id);
  refuse(whyClosed(session));
  refuse(whyNotStill(session, await openTurns(tx.db, id)));
  await check?.(tx, session);
  const target = await findCheckpoint(tx.db, id, to);
  if (target === null) throw checkpointNotFound(session.name, to);
  if (what === 'conversation' && !goesNatively(target, parts.canRewind(session.harness)))
    throw new OrreryError('unsupported', `${session.harness} cannot take its conversation back to there.`, {
      rule: 'With the files too, a new conversation begins that is given a record of what is kept.',
      fix: `orrery session rewind ${session.name} --to ${to}`,
    });
  if (what !== 'conversation') await checkAlone(tx, session);
  const operation: Rewinding = { kind: 'rewind', checkpoint: target.id, what, before: null, saved: [] };
  await changeSession(tx, id, {
    operation: JSON.stringify(operation),
    wanted: 'close',
    reason: null,
    nowMs: parts.clock.nowMs(),
  });
  return target;
};

/** Nobody else works in the files meanwhile. */
const checkAlone = async (tx: Tx, session: SessionRow): Promise<void> => {
  for (const other of await liveSessions(tx.db)) {
    if (other.environment_id !== session.environment_id || other.id === session.id) continue;
    if (other.operation === null && !(await openTurns(tx.db, other.id)).some(isActive)) continue;
    throw new OrreryError('busy', `The session ${other.name} works in the same environment.`, {
      rule: 'Files go back when nobody works with them.',
      fix: `orrery session stop ${other.name}`,
    });
  }
};

const untilDone = async ({ store, clock }: HistoryParts, id: string): Promise<SessionRow> => {
  const until = clock.nowMs() + REWIND_MS;
  for (;;) {
    const session = await findSession(store.read, id);
    if (session === null) throw sessionNotFound(id);
    if (operationOf(session) === null || session.ended_at !== null) return session;
    if (clock.nowMs() > until) throw late(session);
    await clock.sleep(20);
  }
};

const late = ({ name }: SessionRow): OrreryError =>
  new OrreryError('deadline', `The session ${name} is still being taken back.`, {
    rule: 'It goes on by itself, and its log says how it ended.',
    fix: `orrery session log ${name}`,
  });

const notRewound = ({ name, reason }: SessionRow): OrreryError =>
  new OrreryError('conflict', `The session ${name} was not taken back: ${reason ?? 'it ended meanwhile'}`, {
    rule: 'What was there before is saved in a checkpoint, and so is work that nothing else had.',
    fix: `orrery session checkpoints ${name}`,
  });
