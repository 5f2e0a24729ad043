// What of a program's conversation goes with a session that parts from another one: a copy of its files, kept when it is asked
// for and put into the new home before the first start there.

import { OrreryError } from '@orrery/protocol';
import { namedById } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import { findSession, sessionNotFound, type SessionRow } from '../../session/index.ts';
import { carryConversation, isConversationKept, keepConversation } from '../conversation.ts';
import { placePaths } from '../environments/place.ts';
import { broughtHere, openPlaceOf } from './carry-back.ts';
import type { SessionConductorParts } from './context.ts';

/** Keeps it; its program may be writing meanwhile. @throws OrreryError not_found when it is not there, backend_unreachable when nobody can tell */
export const keepForFork = async (
  parts: SessionConductorParts,
  id: string,
  { as, conversation }: { readonly as: string; readonly conversation: string },
): Promise<void> => {
  const session = await findSession(parts.store.read, id);
  if (session === null) throw sessionNotFound(id);
  const store = parts.harness(session.harness).conversations;
  const home = await homeOf(parts, session);
  const why =
    store === null
      ? 'Its program keeps no files of one.'
      : await keepConversation(parts.conversationsDirectory, { taskId: as, home, store, conversation, written: true });
  parts.atKillPoint('session-fork-kept', session.harness);
  if (why === null) return;
  throw new OrreryError('not_found', `The conversation of the session ${session.name} cannot go on twice: ${why}`, {
    rule: 'A fork goes on from a copy of the files of its program.',
    fix: `orrery session hand-over ${session.name} --harness HARNESS`,
  });
};

/** Where its files are on this machine: they are brought here where its program runs elsewhere, as far as that place is there. */
const homeOf = async (parts: SessionConductorParts, session: SessionRow): Promise<string> => {
  const row = await namedById(parts.store.read, session.environment_id);
  if (row === null || row.deleted_at !== null || row.spec === null)
    throw new OrreryError('not_found', `The environment of the session ${session.name} is gone.`, {
      rule: 'The conversation of its program was in there; the log of the session stays.',
      fix: `orrery session log ${session.name}`,
    });
  const environment = await openPlaceOf(parts, session);
  if (environment !== null) await broughtHere(parts, environment);
  return placePaths(parts, row.id).home;
};

/** Before the first start of a fork: its program finds what it is to go on from. Repeatable. */
export const carryFork = async (
  parts: SessionConductorParts,
  session: Pick<SessionRow, 'id' | 'harness' | 'conversation' | 'branch' | 'forked_from'>,
  environment: Environment,
): Promise<void> => {
  if (session.forked_from === null || session.conversation !== null || session.branch === null) return;
  const store = parts.harness(session.harness).conversations;
  const directory = parts.conversationsDirectory;
  if (store === null || !isConversationKept(directory, session.id)) return;
  await carryConversation(directory, { taskId: session.id, store, environment });
  parts.atKillPoint('session-fork-carried', session.harness);
};
