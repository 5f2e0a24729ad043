// Files and conversation of a session are saved before each turn, so that a person can go back behind it.

import { OrreryError, toOrreryError } from '@orrery/protocol';
import { namedById } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import { errorFields } from '../../kernel/log.ts';
import {
  checkpointsOf,
  insertCheckpoint,
  newestSequence,
  pointOf,
  removeCheckpoints,
  SESSION_CHECKPOINTS,
  undoneTurns,
  type CheckpointRow,
  type SessionRow,
} from '../../session/index.ts';
import { preparedOf } from '../environments/place.ts';
import { broughtHere } from './carry-back.ts';
import type { SessionConductorParts } from './context.ts';

type Why = { readonly kind: 'turn' | 'asked' | 'rewind' | 'fork'; readonly turn: number | null };

/** Saves a session as it is now. Its files are brought here first where they lie elsewhere (`environment`: its open place). */
export const takeCheckpoint = async (
  parts: SessionConductorParts,
  session: SessionRow,
  { environment, ...why }: Why & { readonly environment: Environment | null },
): Promise<string> => {
  const row = await namedById(parts.store.read, session.environment_id);
  const prepared = row === null || row.deleted_at !== null ? null : preparedOf(row);
  if (prepared === null)
    throw new OrreryError('not_found', `The session ${session.name} has no files yet.`, {
      rule: 'Files are saved once their environment is made.',
    });
  if (environment !== null) await broughtHere(parts, environment);
  const id = parts.ids('checkpoint');
  const saved = await parts.workspace.checkpoint(prepared.place.checkoutId, { owner: session.id, name: id });
  parts.atKillPoint('session-checkpoint-saved', why.kind);
  const point = pointOf(session);
  await parts.store.transaction(async (tx) => {
    await insertCheckpoint(tx.db, {
      id,
      session_id: session.id,
      project_id: session.project_id,
      ...why,
      sequence: await newestSequence(tx.db, session.key),
      ref: saved.ref,
      sha: saved.sha,
      head_sha: saved.headSha,
      branch: saved.branch,
      staged: saved.staged,
      conversation: point === null ? null : JSON.stringify(point),
      undone: JSON.stringify(await undoneTurns(tx.db, session.id)),
      notes: JSON.stringify(saved.notes),
      created_at: parts.clock.nowMs(),
    });
    if (why.kind === 'asked')
      await tx.append([{ taskId: null, sessionId: session.id, turn: null, body: { kind: 'checkpoint', checkpointId: id } }]);
  });
  await dropOldest(parts, session);
  return id;
};

/** The row first: a ref that nobody names any more is harmless. */
const dropOldest = async (parts: SessionConductorParts, { id }: SessionRow): Promise<void> => {
  const old = (await checkpointsOf(parts.store.read, id)).slice(SESSION_CHECKPOINTS);
  if (old.length === 0) return;
  await parts.store.transaction((tx) =>
    removeCheckpoints(
      tx.db,
      old.map((row) => row.id),
    ),
  );
  await dropRefs(parts, old);
};

/** Takes the refs of checkpoints away whose rows are gone. */
export const dropRefs = async (
  parts: Pick<SessionConductorParts, 'log'> & {
    readonly workspace: Pick<SessionConductorParts['workspace'], 'dropCheckpoint'>;
  },
  rows: readonly CheckpointRow[],
): Promise<void> => {
  for (const { project_id, ref, sha } of rows)
    await parts.workspace
      .dropCheckpoint(project_id, { ref, sha })
      .catch((thrown: unknown) => parts.log.warn('session.checkpoint.left', { ref, ...errorFields(thrown) }));
};

/** Before a turn; without one the turn begins all the same, and the log says that nobody can go back behind it. */
export const checkpointBefore = async (
  parts: SessionConductorParts,
  environment: Environment,
  { session, turn }: { readonly session: SessionRow; readonly turn: number },
): Promise<void> => {
  try {
    await takeCheckpoint(parts, session, { kind: 'turn', turn, environment });
  } catch (thrown) {
    const error = toOrreryError(thrown);
    parts.log.warn('session.checkpoint.failed', { session: session.id, ...errorFields(thrown) });
    const text = `No checkpoint was made before turn ${turn}: ${error.message}`;
    await parts.store.transaction((tx) =>
      tx.append([{ taskId: null, sessionId: session.id, turn, body: { kind: 'notice', level: 'warning', text } }]),
    );
  }
};
