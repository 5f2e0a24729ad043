// Words for a turn that runs have a journal of their own, beside the queue and inside its limits.

import { OrreryError } from '@orrery/protocol';
import type { SessionParts } from './doors.ts';
import { SESSION_STEERS } from './limits.ts';
import { isActive, type SessionRow, type TurnRow } from './model.ts';

/** Refuses what is too much; what is under way to the program is never put out for it. @throws OrreryError limit_reached */
export const checkSteers = ({ name }: Pick<SessionRow, 'name'>, open: readonly TurnRow[]): void => {
  if (open.filter(({ kind }) => kind === 'steer').length < SESSION_STEERS) return;
  throw new OrreryError('limit_reached', `${SESSION_STEERS} inputs are under way into the turn of the session ${name}.`, {
    rule: `At most ${SESSION_STEERS} wait to be taken by the program at once; nothing was dropped.`,
    fix: `orrery session queue ${name}`,
  });
};

/** Whether words can be put into a turn now. */
export const checkSteer = (parts: SessionParts, session: SessionRow, open: readonly TurnRow[]): void => {
  if (!parts.canSteer(session.harness))
    throw new OrreryError('unsupported', `${session.harness} takes no words into a turn that runs.`, {
      rule: 'What a program can do is shown by its harness.',
      fix: `orrery harness show ${session.harness}`,
    });
  if (open.some((turn) => turn.kind === 'prompt' && isActive(turn))) return checkSteers(session, open);
  throw new OrreryError('conflict', `No turn runs in the session ${session.name}.`, {
    rule: 'A steer goes into a turn that runs; a prompt begins one.',
    fix: `orrery session send ${session.name} "…"`,
  });
};
