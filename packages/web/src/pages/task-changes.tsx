import type { LeftOut, Task } from '@orrery/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Answer } from '../parts/answer.tsx';
import { Empty } from '../parts/states.tsx';
import { reviewIn } from '../review/answered.ts';
import { Answered } from '../review/answered.tsx';
import { Apply } from '../review/apply.tsx';
import { Checks } from '../review/checks.tsx';
import { leavingOut, toggled } from '../review/left-out.ts';
import { PullRequestPart } from '../review/pull-request.tsx';
import { Review } from '../review/review.tsx';
import { SendComments, type Way } from '../review/send.tsx';
import { useComments } from '../review/use-comments.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { hasChanges, pullOfTask, TaskHead, useTask } from './task.tsx';

/** The result of a task, reviewed: what was changed, what checked it, what is to become of it. */
export const TaskChangesPage = () => {
  const { name } = useParams({ strict: false }) as { readonly name: string };
  return <Answer query={useTask(name)}>{(task) => <ChangesOf task={task} />}</Answer>;
};

const ChangesOf = ({ task }: { readonly task: Task }) => (
  <>
    <TaskHead task={task} command={`orrery task diff ${task.id}`}>
      <Link to="/tasks/$name" params={{ name: task.id }} className="text-accent underline">
        The task
      </Link>
    </TaskHead>
    {hasChanges(task) ? (
      <Changes key={task.id} task={task} />
    ) : (
      <Empty command={`orrery task show ${task.id}`}>There is no change to review.</Empty>
    )}
  </>
);

const Changes = ({ task }: { readonly task: Task }) => {
  const params = { id: task.id };
  const of = ['changes', task.id, task.result?.headSha];
  const query = useQuery({
    queryKey: of,
    queryFn: () => node.call('taskChanges', { params }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { comments, change, clear } = useComments(task.id);
  const mayAct = useMayAct();
  const [leftOut, setLeftOut] = useState<LeftOut>([]);
  const ways = useWays(task);
  const sent = reviewIn(task.prompt, task.result?.summary ?? '');
  return (
    <Answer query={query}>
      {(data) => (
        <Review
          sent={sent}
          change={data}
          of={of}
          ask={(asked) => node.call('taskChange', { params, query: asked })}
          commenting={mayAct ? { comments, change } : null}
          choosing={
            mayAct ? { leftOut, words: leavingOut, toggle: (path, key) => setLeftOut(toggled(leftOut, path, key)) } : null
          }
          aside={
            <>
              {mayAct ? <SendComments comments={comments} range={data} ways={ways} sent={clear} /> : null}
              <Answered reviews={sent === null ? [] : [sent]} waits={false} />
              <Checks task={task} />
              {mayAct ? <Apply task={task} leftOut={leftOut} /> : null}
              <PullRequestPart subject={pullOfTask(task)} leftOut={leftOut} mayAct={mayAct} />
            </>
          }
        />
      )}
    </Answer>
  );
};

/** A task that has ended is spoken with by another one that continues it. */
const useWays = (task: Task): readonly Way[] => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const send = async (prompt: string, request: string): Promise<void> => {
    const next = await node.call('taskAdd', { body: { prompt, continues: task.id, requestId: request } });
    void queries.invalidateQueries();
    void navigate({ to: '/tasks/$name', params: { name: next.id } });
  };
  return [{ name: 'Send to the agent: a task that continues', send }];
};
