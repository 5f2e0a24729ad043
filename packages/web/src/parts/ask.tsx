import type { InteractionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { node } from '../state/node.ts';
import { Ago } from './ago.tsx';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

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
  const queries = useQueryClient();
  const answer = useMutation({
    mutationFn: (outcome: Outcome) =>
      node.call('interactionAnswer', {
        params: { id: asked.id },
        body: { revision: asked.revision, outcome, ...(message === '' ? {} : { message }) },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['interactions'] }),
  });
  const offered = outcomes.filter((one) => asked.ask.outcomes.includes(one));
  return (
    <section aria-label={asked.ask.title} className="my-2 rounded border border-careful bg-raised px-3 py-2">
      <Title asked={asked} named={named} />
      <Asked ask={asked.ask} />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {offered.map((outcome) => (
          <Button
            key={outcome}
            look={looks[outcome]}
            disabled={answer.isPending || (outcome === 'answered' && message === '')}
            onClick={() => answer.mutate(outcome)}
          >
            {words[outcome]}
          </Button>
        ))}
        <input
          aria-label="Words for the agent"
          placeholder="words for the agent"
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          className="h-7 min-w-40 flex-1 rounded border border-line bg-ground px-2"
        />
      </div>
      {answer.error === null ? null : <Failed error={answer.error} />}
    </section>
  );
};

const outcomes = ['approved', 'approved-for-session', 'denied', 'answered'] as const;
const looks = { approved: 'main', answered: 'main', denied: 'bad', 'approved-for-session': 'plain' } as const;

const Title = ({ asked, named }: { readonly asked: InteractionView; readonly named: boolean }) => (
  <h2 className="flex items-baseline gap-2 font-semibold">
    <span className="text-careful" aria-hidden="true">
      !
    </span>
    <span className="said">{asked.ask.title}</span>
    <span className="ml-auto flex gap-2 font-normal">
      {named ? (
        <Link to="/sessions/$name" params={{ name: asked.sessionId }} className="text-accent underline">
          {asked.sessionName}
        </Link>
      ) : null}
      <Ago at={asked.createdAt} />
    </span>
  </h2>
);

/** The exact thing that is asked. */
const Asked = ({ ask }: { readonly ask: InteractionView['ask'] }) => (
  <>
    {ask.command === null ? null : <pre className="said my-1 rounded bg-ground p-2 font-mono">{ask.command}</pre>}
    {ask.paths.map((path) => (
      <p key={path} className="said font-mono text-quiet">
        {path}
      </p>
    ))}
    {ask.detail === '' || ask.detail === ask.command ? null : (
      <details open={ask.command === null} className="my-1">
        <summary className="cursor-pointer text-quiet">All that it said</summary>
        <pre tabIndex={0} className="said max-h-72 overflow-auto rounded bg-ground p-2 font-mono">
          {ask.detail}
        </pre>
      </details>
    )}
  </>
);
