// A new session: once for each request, with its first prompt when it has one.

import type { SessionCreate } from '@orrery/protocol';
import type { Tx } from '../store/store.ts';
import type { SessionParts } from './doors.ts';
import { checkLine, newTurn, turnHash } from './inputs.ts';
import { otherIntent, sessionNotFound, type SessionRow } from './model.ts';
import { findSession, insertSession, insertTurn, sessionByRequest } from './store.ts';
import { titleOf } from './title.ts';
import { refuseExpired } from './tombstones.ts';

/** The session that the same request made before; null: none. @throws OrreryError request_conflict for another intent */
export const sameIntent = (
  known: SessionRow | null,
  { requestId, hash }: { readonly requestId: string; readonly hash: string },
): SessionRow | null => {
  if (known !== null && known.intent_hash !== hash) throw otherIntent(requestId, 'session');
  return known;
};

/** A session that nothing was done for yet. */
export const unbegun = (given: {
  readonly id: string;
  readonly requestId: string;
  readonly hash: string;
  readonly nowMs: number;
}) => ({
  id: given.id,
  request_id: given.requestId,
  intent_hash: given.hash,
  state: 'starting',
  generation: 0,
  failed_starts: 0,
  catalogue: JSON.stringify({ models: [], commands: [] }),
  created_at: given.nowMs,
  changed_at: given.nowMs,
});

/** Its log and the node say that it is there. */
export const tellBegun = (tx: Tx, id: string): Promise<unknown> =>
  tx.append([
    { taskId: null, sessionId: id, turn: null, body: { kind: 'state', state: 'starting', reason: null } },
    { taskId: null, turn: null, body: { kind: 'session.changed', sessionId: id, state: 'starting' } },
  ]);

/** Its first input, given with the request that begins it. */
export const firstTurn = (
  parts: Pick<SessionParts, 'ids'>,
  id: string,
  given: { readonly text: string; readonly requestId: string; readonly position: number; readonly nowMs: number },
) =>
  newTurn(parts, id, {
    ...given,
    kind: 'prompt',
    requestId: `${given.requestId}.prompt`,
    hash: turnHash({ text: given.text, kind: 'prompt' }),
  });

/** Records a new session, with its first prompt when it has one. */
export const begin = async (
  parts: SessionParts,
  { asked, requestId, hash }: { readonly asked: SessionCreate; readonly requestId: string; readonly hash: string },
): Promise<{ readonly row: SessionRow; readonly replayed: boolean }> => {
  if (asked.prompt !== undefined) checkLine(asked.prompt);
  const { egress, ...admitted } = await parts.admit(asked);
  parts.checkRoom();
  const place = await parts.place(asked, { requestId, egress });
  const id = parts.ids('session');
  const nowMs = parts.clock.nowMs();
  return parts.store.transaction(async (tx) => {
    // Two of the same request may have come this far.
    const known = sameIntent(await sessionByRequest(tx.db, requestId), { requestId, hash });
    if (known !== null) return { row: known, replayed: true };
    await refuseExpired(tx.db, { requestId, kind: 'session' });
    await insertSession(tx.db, {
      ...unbegun({ id, requestId, hash, nowMs }),
      name: asked.name ?? place.name,
      name_given: asked.name === undefined ? 0 : 1,
      ...(asked.prompt === undefined ? {} : { title: titleOf(asked.prompt), title_from: 'words' }),
      project_id: place.projectId,
      environment_id: place.id,
      owns_environment: asked.environment === undefined ? 1 : 0,
      ...admitted,
    });
    if (asked.prompt !== undefined)
      await insertTurn(tx.db, firstTurn(parts, id, { text: asked.prompt, requestId, position: 1, nowMs }));
    await tellBegun(tx, id);
    const row = await findSession(tx.db, id);
    if (row === null) throw sessionNotFound(id);
    return { row, replayed: false };
  });
};
