// Glossary. An interaction is a question, an approval or a plan that a program waits with for a person. Its revision
// changes when what is asked changes; an answer names the revision it is for. Contract: sessions, "Interactions".

import {
  interactionAsk,
  OrreryError,
  wrongAnswers,
  type Answers,
  type InteractionAnswer,
  type InteractionAsk,
  type InteractionOutcome,
  type InteractionView,
} from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { InteractionTable } from '../store/session-tables.ts';

export type InteractionRow = Selectable<InteractionTable>;

export const askOf = (row: InteractionRow): InteractionAsk => interactionAsk.parse(JSON.parse(row.ask));

/** What was answered, or null. */
export const answersOf = ({ answers }: Pick<InteractionRow, 'answers'>): Answers | null =>
  answers === null ? null : (JSON.parse(answers) as Answers);

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
  answers: answersOf(row),
  by: row.by,
  deadlineAt: maybeInstant(row.deadline_at),
  createdAt: toInstant(row.created_at),
  settledAt: maybeInstant(row.settled_at),
});

/** Why an answer does not count, or null. */
export const whyNotAnswered = (
  row: InteractionRow,
  answer: InteractionAnswer & { readonly nowMs: number },
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
  return whyNotFit(row, answer);
};

/** Why an answer does not fit what is asked, or null; what is asked stays open. */
const whyNotFit = (row: InteractionRow, { outcome, answers, mode }: InteractionAnswer): OrreryError | null => {
  const { outcomes, kind, questions } = askOf(row);
  const invalid = (what: string, rule: string): OrreryError => new OrreryError('invalid_input', what, { rule });
  if (!outcomes.includes(outcome)) return invalid(`"${outcome}" is no answer to this.`, `It can be ${outcomes.join(', ')}.`);
  if (answers !== undefined && outcome !== 'answered')
    return invalid(`Answers do not go with "${outcome}".`, 'They go with "answered" alone.');
  if (mode !== undefined && (kind !== 'plan' || outcome !== 'approved'))
    return invalid('There is no mode to go on in.', 'It goes with a plan that is approved.');
  if (outcome !== 'answered') return null;
  const wrong = wrongAnswers(questions, answers ?? {});
  if (wrong.length === 0) return null;
  return new OrreryError('invalid_input', `The answer does not fit: ${wrong.slice(0, 5).join('; ')}.`, {
    rule: 'Each question is answered in its own form, under its key; what is asked stays open.',
    fix: `orrery session interactions ${row.session_id}`,
    details: { wrong },
  });
};
