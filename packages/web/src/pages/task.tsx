import type { Task } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { AsCli } from '../parts/copy.tsx';
import { Failed, State } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { Again } from '../review/apply.tsx';
import { Checks } from '../review/checks.tsx';
import { PullRequestPart, type PullSubject } from '../review/pull-request.tsx';
import { TaskLog } from '../session/task-log.tsx';
import { Words } from '../session/words.tsx';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';

export const useTask = (name: string) =>
  useQuery({ queryKey: ['task', name], queryFn: () => node.call('taskShow', { params: { id: name } }) });

/** One task: what was asked, how it ended, what checked it, and the way to its changes. */
export const TaskPage = () => {
  const { name } = useParams({ strict: false }) as { readonly name: string };
  return <Answer query={useTask(name)}>{(task) => <OneTask task={task} />}</Answer>;
};

const OneTask = ({ task }: { readonly task: Task }) => {
  const mayAct = useMayAct();
  return (
    <>
      <TaskHead task={task} command={`orrery task show ${task.id}`} />
      <p className="said my-2 max-h-72 overflow-auto rounded bg-raised px-3 py-2">{task.prompt}</p>
      {task.reason === null ? null : <p className="said text-careful">{task.reason}</p>}
      {task.waitingFor === null ? null : <p className="said text-careful">! {task.waitingFor}</p>}
      {task.result?.summary == null ? null : <Words text={task.result.summary} />}
      {task.continues === null ? null : (
        <p>
          It continues{' '}
          <Link to="/tasks/$name" params={{ name: task.continues }} className="text-accent underline">
            {task.continues}
          </Link>
          .
        </p>
      )}
      <div className="flex flex-wrap items-center gap-3 py-1">
        <ToChanges task={task} />
        {['running', 'waiting'].includes(task.state) ? (
          <Link to="/terminals/$name" params={{ name: task.id }} className="text-accent underline">
            Terminals
          </Link>
        ) : null}
        {mayAct ? <Again task={task} /> : null}
        {mayAct ? <Stop task={task} /> : null}
      </div>
      <Checks task={task} />
      <TaskLog key={task.id} task={task} />
      {hasChanges(task) ? <PullRequestPart subject={pullOfTask(task)} mayAct={mayAct} /> : null}
    </>
  );
};

/** Ends a task that goes on. */
const Stop = ({ task }: { readonly task: Task }) => {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () => node.call('taskCancel', { params: { id: task.id }, body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['task'] }),
  });
  if (task.verdict !== null) return null;
  return (
    <>
      <Sure
        name="Stop it"
        says="It and all that it started end; what it changed so far is saved."
        disabled={stop.isPending}
        act={() => stop.mutate()}
      />
      {stop.error === null ? null : <Failed error={stop.error} />}
    </>
  );
};

const ToChanges = ({ task }: { readonly task: Task }) => {
  if (!hasChanges(task)) return task.result === null ? null : <span className="text-quiet">It changed no files.</span>;
  const { filesChanged, insertions, deletions } = task.result;
  return (
    <Link to="/tasks/$name/changes" params={{ name: task.id }} className="font-semibold text-accent underline">
      Changes: {filesChanged} {filesChanged === 1 ? 'file' : 'files'}, +{insertions} −{deletions}
    </Link>
  );
};

/** A task as a pull request is of it. */
export const pullOfTask = ({ id, pullRequest }: Task): PullSubject => ({ kind: 'task', id, pull: pullRequest });

/** Whether there is something to review. */
export const hasChanges = (task: Task): task is Task & { readonly result: NonNullable<Task['result']> } =>
  task.project !== null && task.result?.headSha != null && task.result.filesChanged > 0;

type HeadProps = { readonly task: Task; readonly command: string; readonly children?: React.ReactNode };

/** What a task is, above its pages, with the line for a terminal that shows the same. */
export const TaskHead = ({ task, command, children }: HeadProps) => (
  <div className="mb-2 flex flex-wrap items-baseline gap-x-3 border-b border-line pb-2">
    <h1 className="said font-semibold">{task.prompt.split('\n')[0]?.slice(0, 200)}</h1>
    <State state={task.verdict ?? task.state} />
    <span className="text-quiet">
      {task.project?.name ?? 'no project'} · {task.harness} · {task.backend}
    </span>
    <AsCli>{command}</AsCli>
    {children}
    <span className="ml-auto">
      <Ago at={task.createdAt} />
    </span>
  </div>
);
