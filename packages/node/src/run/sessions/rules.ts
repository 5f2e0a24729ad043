// The policies that decide what a session asks, read before the transaction that records it.

import type { InteractionAsk, PolicyNote } from '@orrery/protocol';
import type { SessionFact } from '../../harness/dialogue.ts';
import { namedById } from '../../environment/index.ts';
import { findSession } from '../../session/index.ts';
import { baseShaOf } from '../environments/place.ts';
import type { Live, SessionConductorParts } from './context.ts';

/** What the policies say of something that a session asks. */
export type SessionRules = (ask: InteractionAsk) => PolicyNote | null;

/** The rules as they are now, where something is asked; null: nothing is. */
export const rulesFor = async (
  parts: SessionConductorParts,
  live: Live,
  facts: readonly SessionFact[],
): Promise<SessionRules | null> => {
  return facts.some(({ kind }) => kind === 'asks') ? rulesOf(parts, live) : null;
};

/** The rules as they are now, for what a session asks; null: the session is gone. */
export const rulesOf = async (parts: SessionConductorParts, live: Live): Promise<SessionRules | null> => {
  const session = await findSession(parts.store.read, live.sessionId);
  if (session === null) return null;
  const row = await namedById(parts.store.read, session.environment_id);
  const commit = row === null ? null : baseShaOf(row);
  const { project_id: project } = session;
  const { name } = await parts.trustedProject(project);
  const decide = await parts.policies.inForce(commit === null ? null : { project, commit });
  const { workdir } = live.environment;
  return (ask) => decide({ project: { id: project, name }, harness: session.harness, workdir, ask });
};
