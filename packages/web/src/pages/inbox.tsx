import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Answer } from '../parts/answer.tsx';
import { Ask } from '../parts/ask.tsx';
import { Notifying } from '../parts/notifying.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty, State } from '../parts/states.tsx';
import { together } from '../parts/together.ts';
import { useOpenAsks } from '../state/needs.ts';
import { node } from '../state/node.ts';

/** All that waits for a person. */
const useWaiting = () => {
  const asks = useOpenAsks();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: 200 } }) });
  const tasks = useQuery({
    queryKey: ['tasks', 'waiting'],
    queryFn: () => node.call('taskList', { query: { state: 'waiting' } }),
  });
  return together({ asks, sessions, tasks });
};

type Waiting = NonNullable<ReturnType<typeof useWaiting>['data']>;

/** What waits for a person, over all sessions and tasks. */
export const InboxPage = () => {
  const query = useWaiting();
  return (
    <>
      <h1 className="sr-only">Inbox</h1>
      <Answer query={query}>{(waiting) => <Inbox {...waiting} />}</Answer>
    </>
  );
};

const Inbox = ({ asks, sessions, tasks }: Waiting) => {
  const failed = sessions.items.filter(({ state }) => state === 'failed');
  const nothing = asks.items.length + failed.length + tasks.items.length === 0;
  return (
    <>
      <NewWork />
      {nothing ? (
        <Empty command='orrery session start "look at the failing test"'>
          Nothing waits for you. To give an agent something to do:
        </Empty>
      ) : null}
      {asks.items.map((asked) => (
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
      {tasks.items.map(({ id, waitingFor }) => (
        <p key={id} className="said flex gap-2 border-b border-line py-1.5">
          <State state="waiting" />
          <Link to="/tasks/$name" params={{ name: id }} className="font-mono text-accent underline">
            {id}
          </Link>
          {waitingFor}
        </p>
      ))}
      <Notifying />
    </>
  );
};
