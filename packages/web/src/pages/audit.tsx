import type { AuditView } from '@orrery/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ChoiceField, LineField } from '../forms/field.tsx';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { Mark } from '../parts/facts.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { Empty } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';

type Asked = { readonly action: string; readonly actor: string; readonly outcome: string };

const outcomes = ['done', 'refused', 'failed'] as const;
const marks = { done: 'good', refused: 'careful', failed: 'bad' } as const;

const useAudit = ({ action, actor, outcome }: Asked) =>
  useInfiniteQuery({
    queryKey: ['audit', action, actor, outcome],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const ended = outcomes.find((one) => one === outcome);
      return node.call('auditList', {
        query: {
          ...(pageParam === '' ? {} : { cursor: pageParam }),
          ...(action.trim() === '' ? {} : { action: action.trim() }),
          ...(actor.trim() === '' ? {} : { actor: actor.trim() }),
          ...(ended === undefined ? {} : { outcome: ended }),
        },
      });
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Who did what to what, newest first. */
export const AuditPage = () => {
  const [asked, setAsked] = useState<Asked>({ action: '', actor: '', outcome: '' });
  const query = useAudit(asked);
  const set = (change: Partial<Asked>): void => setAsked({ ...asked, ...change });
  return (
    <NodePage name="Audit" command="orrery audit">
      <div className="flex flex-wrap gap-x-4">
        <LineField
          label="Action"
          value={asked.action}
          change={(action) => set({ action })}
          placeholder="egress"
          choices={actions}
        />
        <LineField label="Who" value={asked.actor} change={(actor) => set({ actor })} placeholder="token:owner" />
        <ChoiceField
          label="Ended"
          value={asked.outcome}
          change={(outcome) => set({ outcome })}
          choices={[{ value: '', name: 'in any way' }, ...outcomes.map((one) => ({ value: one, name: one }))]}
        />
      </div>
      <Answer query={query}>
        {({ pages }) =>
          pages[0]?.items.length === 0 ? (
            <Empty>Nothing of that kind is on record.</Empty>
          ) : (
            <ul aria-label="Records">
              {pages.flatMap(({ items }) => items.map((record) => <Row key={record.id} record={record} />))}
            </ul>
          )
        }
      </Answer>
      {query.hasNextPage ? (
        <Button disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
          Older ones
        </Button>
      ) : null}
    </NodePage>
  );
};

/** First words of actions, to choose from. */
const actions = ['approval', 'egress', 'environment', 'policy', 'preview', 'salvage', 'token'];

const Row = ({ record: { at, actor, action, subject, outcome, detail } }: { readonly record: AuditView }) => (
  <li className="flex flex-wrap items-baseline gap-x-3 border-b border-line py-1">
    <time dateTime={at} className="text-quiet tabular-nums">
      {new Date(at).toLocaleString()}
    </time>
    <span className="w-20">
      <Mark held={marks[outcome]}>{outcome}</Mark>
    </span>
    <span className="font-semibold">{action}</span>
    <span className="said">{visible(subject)}</span>
    <span className="said text-quiet">
      {Object.entries(detail)
        .map(([name, value]) => `${name}: ${visible(String(value))}`)
        .join(', ')}
    </span>
    <span className="said ml-auto text-quiet">by {visible(actor)}</span>
  </li>
);
