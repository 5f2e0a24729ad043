import type { InteractionAnswer, InteractionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Edits } from '../session/edits.tsx';
import { toolInputOf } from '../session/tool-input.ts';
import { Words } from '../session/words.tsx';
import { Asker } from '../session/asker.tsx';
import { ByRule, mayHaveRule } from '../session/by-rule.tsx';
import { exact, visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import { Ago } from './ago.tsx';
import { Button } from './button.tsx';
import { Questions, withInitial } from './questions.tsx';
import { Failed } from './states.tsx';

type Answers = NonNullable<InteractionAnswer['answers']>;
type Outcome = 'approved' | 'approved-for-session' | 'denied' | 'answered';

const words: Readonly<Record<Outcome, string>> = {
  approved: 'Allow once',
  'approved-for-session': 'Allow in this session',
  denied: 'Deny',
  answered: 'Answer',
};

/** What an agent asks, with the exact thing, answered in place. */
export const Ask = ({ asked, named = true }: { readonly asked: InteractionView; readonly named?: boolean }) => {
  const [message, setMessage] = useState('');
  const [answers, setAnswers] = useState<Answers>({});
  const [byRule, setByRule] = useState(false);
  const answer = useAnswer(asked);
  const { ask } = asked;
  const give = (outcome: Outcome): void =>
    answer.mutate({
      outcome,
      ...(outcome === 'answered' ? { answers: withInitial(ask.questions, answers) } : {}),
      ...(outcome === 'denied' && message !== '' ? { message } : {}),
    });
  return (
    <section data-ask="" tabIndex={-1} aria-label={ask.title} className="my-2 rounded border border-careful bg-raised px-3 py-2">
      <Title asked={asked} named={named} />
      <Asked ask={ask} />
      <Policy ask={ask} />
      <Asker asked={asked} />
      <Questions title={ask.title} questions={ask.questions} answers={answers} change={setAnswers} />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {outcomes
          .filter((one) => ask.outcomes.includes(one))
          .map((outcome) => (
            <Button
              key={outcome}
              data-outcome={outcome}
              look={looks[outcome]}
              disabled={answer.isPending}
              onClick={() => give(outcome)}
            >
              {words[outcome]}
            </Button>
          ))}
        {mayHaveRule(ask) ? (
          <Button data-outcome="rule" aria-expanded={byRule} onClick={() => setByRule(!byRule)}>
            By a rule …
          </Button>
        ) : null}
        {ask.outcomes.includes('denied') ? (
          <input
            aria-label="Why not, in words for the agent"
            placeholder="why not, in words for the agent"
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            className="h-7 min-w-40 flex-1 rounded border border-line bg-ground px-2"
          />
        ) : null}
      </div>
      {byRule ? <ByRule asked={asked} close={() => setByRule(false)} /> : null}
      {answer.error === null ? null : <Failed error={answer.error} />}
    </section>
  );
};

const useAnswer = ({ id, revision }: InteractionView) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: Omit<InteractionAnswer, 'revision'>) =>
      node.call('interactionAnswer', { params: { id }, body: { ...given, revision } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['interactions'] }),
  });
};

const outcomes = ['approved', 'answered', 'approved-for-session', 'denied'] as const;
const looks = { approved: 'main', answered: 'main', denied: 'bad', 'approved-for-session': 'plain' } as const;

const Title = ({ asked, named }: { readonly asked: InteractionView; readonly named: boolean }) => (
  <h2 className="flex items-baseline gap-2 font-semibold">
    <span className="text-careful" aria-hidden="true">
      !
    </span>
    <span className="said">{visible(asked.ask.title)}</span>
    <span className="ml-auto flex items-baseline gap-2 font-normal">
      {named ? (
        <Link to="/sessions/$name" params={{ name: asked.sessionId }} className="text-accent underline">
          {asked.sessionName}
        </Link>
      ) : null}
      <Ago at={asked.createdAt} />
    </span>
  </h2>
);

/** Why it is asked, where a rule has it asked. */
const Policy = ({ ask: { policy } }: { readonly ask: InteractionView['ask'] }) =>
  policy?.verdict !== 'ask' ? null : (
    <p className="said text-careful">
      ! {policy.rule === null ? '' : `the rule ${visible(policy.rule)} has it asked: `}
      {visible(policy.text)}
    </p>
  );

/** The exact thing that is asked. */
const Asked = ({ ask }: { readonly ask: InteractionView['ask'] }) => (
  <>
    {ask.command === null ? null : <pre className="said my-1 rounded bg-ground p-2 font-mono">{exact(ask.command)}</pre>}
    {ask.paths.map((path) => (
      <p key={path} className="said font-mono text-quiet">
        {exact(path)}
      </p>
    ))}
    <Detail ask={ask} />
  </>
);

/** The change of a file as lines that go and come, a plan as words, and all that was said as it came. */
const Detail = ({ ask }: { readonly ask: InteractionView['ask'] }) => {
  const given = useMemo(() => toolInputOf(ask.detail), [ask.detail]);
  if (ask.detail === '' || ask.detail === ask.command) return null;
  if (ask.kind === 'plan') return <Words text={ask.detail} />;
  return (
    <>
      {given.kind === 'edit' ? <Edits edits={given.edits} /> : null}
      <details open={ask.command === null && ask.questions.length === 0 && given.kind !== 'edit'} className="my-1">
        <summary className="cursor-pointer text-quiet">All that it said</summary>
        <pre tabIndex={0} className="said max-h-72 overflow-auto rounded bg-ground p-2 font-mono">
          {exact(ask.detail)}
        </pre>
      </details>
    </>
  );
};
