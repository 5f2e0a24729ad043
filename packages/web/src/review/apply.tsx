import type { LeftOut, Task } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { leftOutWords } from './left-out.ts';
import { node, requestId } from '../state/node.ts';

/** Brings a result into the repository, or has it tried again. */
export const Apply = ({ task, leftOut }: { readonly task: Task; readonly leftOut: LeftOut }) => {
  const queries = useQueryClient();
  const apply = useMutation({
    mutationFn: (body: { readonly mode: 'tree' | 'branch'; readonly branch?: string }) =>
      node.call('taskApply', { params: { id: task.id }, body: { ...body, without: leftOut.map((one) => ({ ...one })) } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['task'] }),
  });
  return (
    <section aria-label="Apply" className="mt-3 border-t border-line pt-2">
      <h2 className="font-semibold">Apply</h2>
      <p className="text-quiet">
        {task.appliedAt === null ? 'It was not applied yet.' : `Applied ${new Date(task.appliedAt).toLocaleString()}.`}
      </p>
      {leftOutWords(leftOut) === null ? null : (
        <p className="text-careful">! {leftOutWords(leftOut)} left out: one commit with the rest is applied.</p>
      )}
      <div className="flex flex-wrap items-center gap-2 py-1">
        <Button look="main" disabled={apply.isPending} onClick={() => apply.mutate({ mode: 'tree' })}>
          Apply to the checked-out branch
        </Button>
        <Again task={task} />
      </div>
      <AsBranch task={task} pending={apply.isPending} apply={apply.mutate} />
      {apply.data === undefined ? null : (
        <p role="status" className="said text-good">
          ✓ {apply.data.note}
        </p>
      )}
      {apply.error === null ? null : <Failed error={apply.error} />}
    </section>
  );
};

type AsBranchProps = {
  readonly task: Task;
  readonly pending: boolean;
  readonly apply: (body: { readonly mode: 'branch'; readonly branch: string }) => void;
};

const AsBranch = ({ task, pending, apply }: AsBranchProps) => {
  const [branch, setBranch] = useState(task.branch ?? `orrery/${task.id}`);
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        apply({ mode: 'branch', branch });
      }}
    >
      <input
        aria-label="Name of the branch"
        value={branch}
        onChange={({ target }) => setBranch(target.value)}
        className="h-7 min-w-0 flex-1 rounded border border-line bg-ground px-2 font-mono"
      />
      <Button type="submit" disabled={pending || branch.trim() === ''}>
        As a branch
      </Button>
    </form>
  );
};

/** Another go at the same work: a new task, or a new attempt of one that a limit or an end of the node stopped. */
export const Again = ({ task }: { readonly task: Task }) => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const request = useRef<string | null>(null);
  const again = useMutation({
    mutationFn: () => {
      request.current ??= requestId();
      return node.call('taskRetry', { params: { id: task.id }, body: { requestId: request.current } });
    },
    onSuccess: ({ id }) => {
      request.current = null;
      void queries.invalidateQueries();
      void navigate({ to: '/tasks/$name', params: { name: id } });
    },
  });
  if (task.verdict === null) return null;
  return (
    <>
      <Button disabled={again.isPending} onClick={() => again.mutate()}>
        Run it again
      </Button>
      {again.error === null ? null : <Failed error={again.error} />}
    </>
  );
};
