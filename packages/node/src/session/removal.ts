// A session is deleted: everything of it in one transaction. Its environment, and with it the program's own history, stays.

import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import type { Store, Tx } from '../store/store.ts';
import { attachmentsOf } from './attachment-store.ts';
import { checkpointsOf, type CheckpointRow } from './checkpoint-store.ts';
import { sessionNotFound, type SessionRow } from './model.ts';
import { findSession, openTurns } from './store.ts';
import { leaveTombstones } from './tombstones.ts';

export type RemovalParts = {
  readonly store: Store;
  readonly clock: { nowMs(): number };
  readonly sessions: { find(reference: string): Promise<SessionRow> };
  /** What of an environment nothing else has; null: it is gone. */
  unsavedIn(environmentId: string): Promise<{ readonly name: string; readonly reasons: readonly string[] } | null>;
  /** Removes everything that it asked. */
  removeAsked(tx: Tx, sessionId: string): Promise<void>;
  /** Takes the refs of checkpoints away whose rows are gone. */
  dropCheckpoints(rows: readonly CheckpointRow[]): Promise<void>;
  /** Takes the copy of a conversation away that was kept for it. */
  dropConversation(sessionId: string): Promise<void>;
  /** Where the bytes of attachments are. */
  readonly attachments: string;
};

/** Deletes a session. @throws OrreryError conflict while it lives, unsaved_work while work depends on it */
export const removeSession = async (parts: RemovalParts, reference: string): Promise<void> => {
  const session = await parts.sessions.find(reference);
  await checkOver(parts.store.read, session);
  await checkSaved(parts, session);
  const { attachments, checkpoints } = await parts.store.transaction((tx) => removeRows(parts, tx, session.id));
  // Files after their rows: what is left when the node dies here is swept, or named by nobody.
  for (const id of attachments) await unlink(join(parts.attachments, id)).catch(() => undefined);
  await parts.dropCheckpoints(checkpoints);
  await parts.dropConversation(session.id);
};

const checkOver = async (db: Store['read'], session: SessionRow): Promise<void> => {
  const uncertain = (await openTurns(db, session.id)).find(({ state }) => state === 'uncertain');
  if (uncertain !== undefined)
    throw new OrreryError('conflict', `Nobody knows yet whether an input of ${session.name} reached its program.`, {
      rule: 'That is decided before the session is deleted.',
      fix: `orrery session decide ${session.name} ${uncertain.id} discard`,
    });
  if (session.ended_at !== null) return;
  throw new OrreryError('conflict', `The session ${session.name} has not ended.`, {
    rule: 'Only a session that is over can be deleted.',
    fix: `orrery session end ${session.name}`,
  });
};

/** Work in the environment that was made for it, when no other session is there to tell of it. */
const checkSaved = async (parts: RemovalParts, session: SessionRow): Promise<void> => {
  if (session.owns_environment === 0 || (await hasCompany(parts.store.read, session))) return;
  const unsaved = await parts.unsavedIn(session.environment_id);
  if (unsaved === null || unsaved.reasons.length === 0) return;
  const { name: environment, reasons } = unsaved;
  throw new OrreryError('unsaved_work', `Its environment ${environment} holds ${reasons.join(', ')} that nothing else has.`, {
    rule: `The session ${session.name} says how that came to be; it is deleted once the work is saved. Nothing was touched.`,
    fix: `orrery env delete ${environment} --salvage`,
    details: { reasons: [...reasons] },
  });
};

const hasCompany = async (db: Store['read'], { id, environment_id: environment }: SessionRow): Promise<boolean> => {
  const other = db.selectFrom('session').select('id').where('environment_id', '=', environment).where('id', '!=', id).limit(1);
  return (await other.executeTakeFirst()) !== undefined;
};

type Removed = { readonly attachments: readonly string[]; readonly checkpoints: readonly CheckpointRow[] };

const removeRows = async (parts: RemovalParts, tx: Tx, id: string): Promise<Removed> => {
  const { db } = tx;
  const session = await findSession(db, id);
  if (session === null) throw sessionNotFound(id);
  await checkOver(db, session);
  const attachments = (await attachmentsOf(db, id)).map((row) => row.id);
  const checkpoints = await checkpointsOf(db, id);
  await leaveTombstones(db, { id, requestId: session.request_id, nowMs: parts.clock.nowMs() });
  // Told first: the newest event of the node is one that stays. The words of each event go with it.
  await tx.append([{ taskId: null, turn: null, body: { kind: 'session.removed', sessionId: id } }]);
  await db.deleteFrom('event').where('session_key', '=', session.key).execute();
  const tables = [
    'session_lease',
    'session_frame',
    'session_run',
    'session_checkpoint',
    'session_detail',
    'attachment',
    'turn',
  ] as const;
  await parts.removeAsked(tx, id);
  for (const table of tables) await db.deleteFrom(table).where('session_id', '=', id).execute();
  await db.deleteFrom('session').where('id', '=', id).execute();
  return { attachments, checkpoints };
};
