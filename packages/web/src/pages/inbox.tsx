import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ask } from '../parts/ask.tsx';
import { Notifying } from '../parts/notifying.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty, Failed, Loading, State } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** What waits for a person, over all sessions and tasks. */
export const InboxPage = () => {
  const asks = useQuery({ queryKey: ['interactions'], queryFn: () => node.call('interactionList', { query: {} }) });
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: 200 } }) });
  const tasks = useQuery({
    queryKey: ['tasks', 'waiting'],
    queryFn: () => node.call('taskList', { query: { state: 'waiting' } }),
  });
  const error = asks.error ?? sessions.error ?? tasks.error;
  if (error !== null) return <Failed error={error} />;
  if (asks.data === undefined || sessions.data === undefined || tasks.data === undefined) return <Loading />;
  const failed = sessions.data.items.filter(({ state }) => state === 'failed');
  const nothing = asks.data.items.length + failed.length + tasks.data.items.length === 0;
  return (
    <>
      <h1 className="sr-only">Inbox</h1>
      <NewWork />
      {nothing ? (
        <Empty command='orrery session start "look at the failing test"'>
          Nothing waits for you. To give an agent something to do:
        </Empty>
      ) : null}
      {asks.data.items.map((asked) => (
        <Ask key={asked.id} asked={asked} />
      ))}
      {failed.map(({ id, name, reason }) => (
        <p key={id} className="said flex gap-2 border-b border-line py-1.5">
          <State state="failed" />
          <Link to="/sessions/$name" params={{ name: id }} className="text-accent underline">
            {name}
          </Link>
          {reason}
        </p>
      ))}
      {tasks.data.items.map(({ id, waitingFor }) => (
        <p key={id} className="said flex gap-2 border-b border-line py-1.5">
          <State state="waiting" />
          <code className="font-mono">{id}</code>
          {waitingFor}
        </p>
      ))}
      <Notifying />
    </>
  );
};
