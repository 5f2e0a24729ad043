import type { Task } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { NewWork } from '../parts/new-work.tsx';
import { Empty, State } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** Tasks, newest first, each with why it waits or how it ended. */
export const TasksPage = () => {
  const query = useQuery({ queryKey: ['tasks'], queryFn: () => node.call('taskList', { query: { limit: 100 } }) });
  return (
    <>
      <h1 className="sr-only">Tasks</h1>
      <NewWork />
      <Answer query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty command='orrery run "fix the failing test"'>There is no task yet.</Empty>
          ) : (
            <ul>
              {items.map((task) => (
                <Row key={task.id} task={task} />
              ))}
            </ul>
          )
        }
      </Answer>
    </>
  );
};

/** So many files, in words. */
export const filesText = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`;

const Row = ({ task }: { readonly task: Task }) => (
  <li className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1">
    <span className="w-24">
      <State state={task.verdict ?? task.state} />
    </span>
    <Link data-row="" to="/tasks/$name" params={{ name: task.id }} className="said min-w-56 flex-1 hover:underline">
      {task.prompt.split('\n')[0]?.slice(0, 200)}
    </Link>
    <span className="ml-auto text-quiet">
      {task.project?.name ?? 'no project'} · {task.harness}
      {task.result === null ? '' : ` · ${filesText(task.result.filesChanged)}`} · <Ago at={task.createdAt} />
    </span>
    {task.waitingFor === null ? null : <span className="said w-full text-careful sm:pl-27">{task.waitingFor}</span>}
    {task.reason === null ? null : <span className="said w-full text-quiet sm:pl-27">{task.reason}</span>}
  </li>
);
