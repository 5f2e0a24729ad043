// Glossary. An interaction is a question, an approval or a plan that a program waits with for a person. Its revision
// changes when what is asked changes; an answer names the revision it is for. Contract: sessions, "Interactions".

import { OrreryError, type InteractionAsk, type InteractionOutcome, type InteractionView } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { InteractionTable } from '../store/session-tables.ts';

export type InteractionRow = Selectable<InteractionTable>;

export const askOf = (row: InteractionRow): InteractionAsk => JSON.parse(row.ask) as InteractionAsk;

const maybeInstant = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** An interaction as clients see it. */
export const toInteraction = (row: InteractionRow, sessionName: string): InteractionView => ({
  id: row.id,
  sessionId: row.session_id,
  sessionName,
  turn: row.turn,
  state: row.state as InteractionView['state'],
  revision: row.revision,
  ask: askOf(row),
  outcome: row.outcome as InteractionOutcome | null,
  by: row.by,
  deadlineAt: maybeInstant(row.deadline_at),
  createdAt: toInstant(row.created_at),
  settledAt: maybeInstant(row.settled_at),
});

/** Why an answer does not count, or null. */
export const whyNotAnswered = (
  row: InteractionRow,
  answer: { readonly revision: number; readonly outcome: InteractionOutcome; readonly nowMs: number },
): OrreryError | null => {
  if (row.state !== 'open')
    return new OrreryError(
      'conflict',
      `${askOf(row).title}: settled already (${row.outcome ?? 'unknown'}${row.by === null ? '' : ` by ${row.by}`}).`,
      {
        rule: 'One answer counts; a later one is told so.',
        details: { outcome: row.outcome, by: row.by },
      },
    );
  if (row.deadline_at !== null && row.deadline_at <= answer.nowMs)
    return new OrreryError('conflict', `${askOf(row).title}: its time is up.`, {
      rule: 'What nobody answered in time does not happen.',
    });
  if (row.revision !== answer.revision)
    return new OrreryError('conflict', 'What is asked has changed since.', {
      rule: 'An answer is for what a person has seen: it names its revision.',
      fix: `orrery session interactions ${row.session_id}`,
      details: { revision: row.revision },
    });
  const { outcomes } = askOf(row);
  if (outcomes.includes(answer.outcome)) return null;
  return new OrreryError('invalid_input', `"${answer.outcome}" is no answer to this.`, {
    rule: `It can be ${outcomes.join(', ')}.`,
  });
};
