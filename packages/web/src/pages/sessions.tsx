import type { AttachedView, SessionView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { Limit } from '../parts/limit.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty, Failed, State } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** Sessions, newest first. */
export const SessionsPage = () => {
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: () => node.call('sessionList', { query: { limit: 200 } }),
  });
  const own = useQuery({
    queryKey: ['attached'],
    queryFn: () => node.call('attachedList', { query: { limit: 200, state: 'attached' } }),
  });
  const attached = own.data?.items ?? [];
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <NewWork />
      {own.error === null ? null : <Failed error={own.error} />}
      <Answer query={query}>
        {({ items }) =>
          items.length + attached.length === 0 ? (
            <Empty command='orrery session start "look at the failing test"'>There is no session yet.</Empty>
          ) : (
            <ul>
              {attached.map((session) => (
                <AttachedRow key={session.id} session={session} />
              ))}
              {items.map((session) => (
                <Row key={session.id} session={session} />
              ))}
            </ul>
          )
        }
      </Answer>
    </>
  );
};

const Row = ({ session }: { readonly session: SessionView }) => (
  <li className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1">
    <span className="w-24">
      <State state={session.state} />
    </span>
    <Link data-row="" to="/sessions/$name" params={{ name: session.id }} className="font-semibold hover:underline">
      {session.name}
    </Link>
    {session.title === session.name ? null : <span className="said">{session.title}</span>}
    <span className="text-quiet">
      {session.project.name} · {session.harness} · {session.environment.backend}
    </span>
    {session.queued > 0 ? <span className="text-quiet">{session.queued} queued</span> : null}
    <Limit limit={session.limit} />
    {session.reason === null ? null : <span className="said text-quiet">{session.reason}</span>}
    <span className="ml-auto">
      <Ago at={session.changedAt} />
    </span>
  </li>
);

/** It has no page: nothing of it is the node's to show or to do. */
const AttachedRow = ({ session }: { readonly session: AttachedView }) => (
  <li className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1">
    <span className="w-24">
      <State state="attached" />
    </span>
    <span className="font-semibold">{session.name}</span>
    <span className="said text-quiet">
      {[session.program ?? session.harness ?? 'a program', session.folder].filter((one) => one !== null).join(' · ')}
    </span>
    <span className="ml-auto">
      <Ago at={session.createdAt} />
    </span>
  </li>
);
