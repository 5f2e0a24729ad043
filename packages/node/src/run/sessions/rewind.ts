// A session is taken back to a checkpoint. What is asked for stands in its row, each step is recorded, and a start of the
// node that finds it unfinished goes on: what is there is saved, files are written, and one transaction makes it so.

import { OrreryError, toOrreryError } from '@orrery/protocol';
import { changeNamed, namedById, recordedEnvironment, whyBusy, type NamedRow } from '../../environment/index.ts';
import { errorFields } from '../../kernel/log.ts';
import {
  changeSession,
  checkpointNotFound,
  findCheckpoint,
  findSession,
  goesNatively,
  handOverRecord,
  markUndone,
  operationOf,
  placeOfCheckpoint,
  type CheckpointRow,
  type Rewinding,
  type SessionRow,
} from '../../session/index.ts';
import { preparedOf } from '../environments/place.ts';
import { takeCheckpoint } from './checkpoints.ts';
import type { SessionConductorParts } from './context.ts';

/** Does what the row says; its program has ended. What it fails of is said, and the session goes on as it is. */
export const rewind = async (parts: SessionConductorParts, session: SessionRow, stopped: AbortSignal): Promise<void> => {
  const asked = operationOf(session);
  if (asked === null) return;
  try {
    const target = await findCheckpoint(parts.store.read, session.id, asked.checkpoint);
    if (target === null) throw checkpointNotFound(session.name, asked.checkpoint);
    const place = await quietPlace(parts, session, { stopped, files: asked.what !== 'conversation' });
    const going = await savedBefore(parts, session, asked);
    parts.atKillPoint('session-rewind-saved', session.harness);
    if (asked.what !== 'conversation') await restoreFiles(parts, { session, target, place });
    parts.atKillPoint('session-rewind-files', session.harness);
    await settle(parts, { session, target, before: going });
    parts.atKillPoint('session-rewound', session.harness);
  } catch (thrown) {
    if (stopped.aborted) throw thrown;
    const error = toOrreryError(thrown);
    parts.log.warn('session.rewind.failed', { session: session.id, ...errorFields(thrown) });
    const text = `It was not taken back: ${error.message}`;
    await parts.store.transaction(async (tx) => {
      const now = await findSession(tx.db, session.id);
      if (now === null || now.ended_at !== null) return;
      await tx.append([{ taskId: null, sessionId: session.id, turn: null, body: { kind: 'notice', level: 'error', text } }]);
      const reason = error.toLines().join(' ');
      await changeSession(tx, session.id, { ...over(now), reason, nowMs: parts.clock.nowMs() });
    });
  }
};

/** It is done, or given up; an end that was asked for meanwhile stands. */
const over = ({ wanted }: SessionRow) =>
  wanted === 'end' ? ({ operation: null } as const) : ({ operation: null, wanted: null, state: 'dormant' } as const);

/** The environment with its files on this machine, and nobody in it who could write them. */
const quietPlace = async (
  parts: SessionConductorParts,
  session: SessionRow,
  { stopped, files }: { readonly stopped: AbortSignal; readonly files: boolean },
): Promise<NamedRow> => {
  for (;;) {
    await parts.environments.settled(session.environment_id);
    stopped.throwIfAborted();
    const row = await namedById(parts.store.read, session.environment_id);
    if (row === null || row.deleted_at !== null)
      throw new OrreryError('not_found', `The environment of the session ${session.name} was deleted.`);
    if (row.operation !== null) {
      parts.environments.begin(row.id);
      continue;
    }
    if (row.open === 0 || !files) return row;
    const busy = whyBusy(row);
    if (busy !== null) throw busy;
    const environment = await parts.environments.open(row);
    const { processes } = await environment.stats();
    if (processes !== null && processes > 0)
      throw new OrreryError('busy', `Programs run in the environment ${row.name}.`, {
        rule: 'Files go back when no program can write them.',
        fix: `orrery env stop ${row.name}`,
      });
    if (processes === 0 && environment.workdir === recordedEnvironment(row.spec ?? '').spec.workdir) return row;
    // Its files lie elsewhere: closing it brings them here, and the next input opens it with what is here.
    const nowMs = parts.clock.nowMs();
    await parts.store.transaction((tx) => changeNamed(tx, row.id, { operation: 'stop', reason: null, nowMs }));
    parts.environments.begin(row.id);
  }
};

/** A checkpoint of what is there now, once: going to it takes the rewinding back. */
const savedBefore = async (parts: SessionConductorParts, session: SessionRow, asked: Rewinding): Promise<string> => {
  if (asked.before !== null) return asked.before;
  const row = await namedById(parts.store.read, session.environment_id);
  const environment = asked.what === 'conversation' && row?.open === 1 ? await parts.environments.open(row) : null;
  const before = await takeCheckpoint(parts, session, { kind: 'rewind', turn: null, environment });
  await note(parts, session, (now) => ({ ...now, before }));
  return before;
};

/** Writes down how far it is. */
const note = (
  { store, clock }: SessionConductorParts,
  { id }: SessionRow,
  change: (now: Rewinding) => Rewinding,
): Promise<void> =>
  store.transaction(async (tx) => {
    const session = await findSession(tx.db, id);
    const now = session === null ? null : operationOf(session);
    if (now !== null) await changeSession(tx, id, { operation: JSON.stringify(change(now)), nowMs: clock.nowMs() });
  });

const restoreFiles = async (
  parts: SessionConductorParts,
  given: { readonly session: SessionRow; readonly target: CheckpointRow; readonly place: NamedRow },
): Promise<void> => {
  const { session, target, place } = given;
  const prepared = preparedOf(place);
  if (prepared === null) throw new Error('files of an environment that was not made go back');
  const notes = await parts.workspace.restore(prepared.place.checkoutId, {
    point: { sha: target.sha, headSha: target.head_sha, branch: target.branch, staged: target.staged },
    reason: `the session ${session.name} was taken back`,
    onSaved: async (saved) => {
      const refs = saved.map(({ ref }) => ref);
      await note(parts, session, (now) => ({ ...now, saved: [...now.saved, ...refs] }));
      parts.atKillPoint('session-rewind-salvaged', session.harness);
    },
  });
  if (notes.length === 0) return;
  await parts.store.transaction((tx) =>
    tx.append(
      notes.map((text) => ({
        taskId: null,
        sessionId: session.id,
        turn: null,
        body: { kind: 'notice', level: 'warning', text } as const,
      })),
    ),
  );
};

const settle = async (
  parts: SessionConductorParts,
  given: { readonly session: SessionRow; readonly target: CheckpointRow; readonly before: string },
): Promise<void> => {
  const { session, target, before } = given;
  const adapter = parts.harness(session.harness).session;
  const native = goesNatively(target, adapter?.capabilities.rewind ?? 'replaced');
  const record = native ? null : await handOverRecord(parts.store, session, { until: target.sequence, why: 'rewound' });
  await parts.store.transaction(async (tx) => {
    const now = await findSession(tx.db, session.id);
    const asked = now === null ? null : operationOf(now);
    if (now === null || now.ended_at !== null || asked === null) return;
    const [files, conversation] = [asked.what !== 'conversation', asked.what !== 'files'];
    const nowMs = parts.clock.nowMs();
    const body = {
      kind: 'rewound',
      after: target.sequence,
      checkpointId: target.id,
      beforeId: before,
      turn: target.turn,
      ...{ files, conversation, replaced: conversation && !native, saved: [...asked.saved] },
    } as const;
    await tx.append([{ taskId: null, sessionId: session.id, turn: null, body }]);
    if (conversation) {
      const turns = JSON.parse(target.undone) as number[];
      await markUndone(tx.db, session.id, { turns, startedFrom: target.created_at });
    }
    const place = placeOfCheckpoint(target);
    await changeSession(tx, session.id, {
      ...over(now),
      ...(conversation
        ? {
            ...{ conversation: null, position: null, record },
            branch: native && place !== null ? JSON.stringify(place) : null,
          }
        : {}),
      reason: null,
      nowMs,
    });
  });
};
