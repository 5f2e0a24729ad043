import { useQuery } from '@tanstack/react-query';
import { useAside } from '../inbox/aside.ts';
import { Line } from '../inbox/line.tsx';
import { waitingSessions, waitingTasks } from '../inbox/waits.ts';
import { Answer } from '../parts/answer.tsx';
import { Ask } from '../parts/ask.tsx';
import { Notifying } from '../parts/notifying.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty } from '../parts/states.tsx';
import { together } from '../parts/together.ts';
import { useOpenAsks } from '../state/needs.ts';
import { node } from '../state/node.ts';

/** All that waits for a person. */
const useWaiting = () => {
  const asks = useOpenAsks();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: 200 } }) });
  const tasks = useQuery({ queryKey: ['tasks'], queryFn: () => node.call('taskList', { query: { limit: 100 } }) });
  const waiting = useQuery({
    queryKey: ['tasks', 'waiting'],
    queryFn: () => node.call('taskList', { query: { state: 'waiting' } }),
  });
  return together({ asks, sessions, tasks, waiting });
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

const Inbox = ({ asks, sessions, tasks, waiting }: Waiting) => {
  const aside = useAside();
  // One that waits may be older than those of the first page.
  const all = [...tasks.items, ...waiting.items.filter(({ id }) => !tasks.items.some((one) => one.id === id))];
  const lines = [...waitingSessions(sessions.items), ...waitingTasks(all, Date.now())].filter(({ key }) => !aside.has(key));
  return (
    <>
      <NewWork />
      {asks.items.length + lines.length === 0 ? (
        <Empty command='orrery session start "look at the failing test"'>
          Nothing waits for you. To give an agent something to do:
        </Empty>
      ) : null}
      {asks.items.map((asked) => (
        <Ask key={asked.id} asked={asked} />
      ))}
      <ul aria-label="To be looked at">
        {lines.map((waits) => (
          <Line key={waits.key} waits={waits} aside={() => aside.put(waits.key)} />
        ))}
      </ul>
      <Notifying />
    </>
  );
};
