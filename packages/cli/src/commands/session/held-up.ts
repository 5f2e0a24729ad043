import type { SessionView, TurnView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import type { Outcome } from '../command.ts';

/** A failure that its timeline does not tell, with what a person reads of it. */
export const failing = (
  error: OrreryError,
  exit: number,
): Pick<Outcome, 'hints'> & { failure: NonNullable<Outcome['failure']> } => ({
  hints: error.toLines().map((line) => `  ${inertLine(line)}`),
  failure: { error, exit },
});

/** Why an input that waits will not be sent without a person, with the exit code that says so; null: nothing holds it up. */
export const heldUp = (
  session: Pick<SessionView, 'id' | 'name' | 'state' | 'reason' | 'held' | 'limit' | 'budget'>,
  turns: readonly Pick<TurnView, 'id' | 'state'>[],
  turn: string,
): ReturnType<typeof failing> | null => {
  if (turns.find(({ id }) => id === turn)?.state !== 'pending') return null;
  if (session.state === 'failed') {
    const error = new OrreryError('agent_failed', `The session failed. ${inertLine(session.reason ?? '')}`.trim(), {
      rule: 'What waits in it stays.',
      fix: `orrery session close ${session.name}`,
    });
    return failing(error, 1);
  }
  if (session.held)
    return failing(
      new OrreryError('conflict', 'The session was closed, and what waits in it is held.', {
        rule: 'The next input, or resuming it, lets it go on.',
        fix: `orrery session resume ${session.name}`,
      }),
      8,
    );
  if (session.budget.reached !== null) return spent(session, session.budget.reached);
  if (session.limit !== null) return usedUp(session, session.limit);
  const parked = turns.find(({ state }) => state === 'uncertain');
  if (parked === undefined) return null;
  const error = new OrreryError('outcome_unknown', 'It waits behind an input of which nobody knows whether the agent got it.', {
    rule: 'Nothing is sent twice without your word, and nothing before it.',
    fix: `orrery session decide ${session.name} ${parked.id} retry`,
  });
  return failing(error, 7);
};

const spent = ({ name, budget: { usd, turns } }: Pick<SessionView, 'name' | 'budget'>, reached: 'usd' | 'turns') =>
  failing(
    new OrreryError(
      'budget_exhausted',
      reached === 'usd'
        ? `The budget of ${usd ?? 0} USD of the session is used up.`
        : `The session had the ${turns ?? 0} turns it may have.`,
      {
        rule: 'What waits stays, and is sent when the budget is raised.',
        fix: reached === 'usd' ? `orrery session set ${name} --budget USD` : `orrery session set ${name} --max-turns N`,
      },
    ),
    10,
  );

const usedUp = ({ name }: Pick<SessionView, 'name'>, { account, until }: NonNullable<SessionView['limit']>) =>
  failing(
    new OrreryError('limit_reached', `It waits for the usage limit of ${inertLine(account)}, until ${until}.`, {
      rule: 'What waits is sent by itself then; nothing is lost.',
      fix: `To try it now: orrery session resume ${name}`,
    }),
    10,
  );
