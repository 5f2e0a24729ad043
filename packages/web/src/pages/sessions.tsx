import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../parts/ago.tsx';
import { Limit } from '../parts/limit.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty, Failed, Loading, State } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** Sessions, newest first. */
export const SessionsPage = () => {
  const { data, error } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => node.call('sessionList', { query: { limit: 200 } }),
  });
  if (error !== null) return <Failed error={error} />;
  if (data === undefined) return <Loading />;
  if (data.items.length === 0)
    return (
      <>
        <NewWork />
        <Empty command='orrery session start "look at the failing test"'>There is no session yet.</Empty>
      </>
    );
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <NewWork />
      <ul>
        {data.items.map((session) => (
          <li key={session.id} className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1">
            <span className="w-20">
              <State state={session.state} />
            </span>
            <Link to="/sessions/$name" params={{ name: session.id }} className="font-semibold hover:underline">
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
        ))}
      </ul>
    </>
  );
};
