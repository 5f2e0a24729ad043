import type { Attempt, Stage, Task } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';
import { visible, withoutStyles } from './inert.ts';

/** What the repository's own scripts said, beside the change: those of the newest attempt. */
export const Checks = ({ task }: { readonly task: Task }) => {
  const { data, error } = useQuery({
    queryKey: ['attempts', task.id],
    queryFn: () => node.call('taskAttempts', { params: { id: task.id } }),
  });
  if (error !== null) return <Failed error={error} />;
  const newest = data?.items.at(-1);
  const stages = newest === undefined ? [] : hooksOf(newest);
  return (
    <section aria-label="Checks" className="mt-3 border-t border-line pt-2">
      <h2 className="font-semibold">Checks</h2>
      <Decided task={task} round={newest?.stages.findLast(({ name }) => name === 'validate')?.round ?? 1} />
      {stages.map((stage) => (
        <Hook key={`${stage.name} ${stage.round}`} stage={stage} />
      ))}
    </section>
  );
};

/** The check that decided; while a task runs, none has. */
const Decided = ({ task, round }: { readonly task: Task; readonly round: number }) => {
  const validation = task.result?.validation ?? null;
  if (validation !== null)
    return (
      <Check
        name="validation"
        passed={validation.passed}
        open={!validation.passed}
        note={`${endOf(validation)}${round > 1 ? `, in round ${round}, the last` : ''}`}
        output={validation.output}
      />
    );
  const words = task.verdict === null ? 'The result is checked when it is there.' : 'No validation script checked this result.';
  return <p className="text-quiet">{words}</p>;
};

const endOf = ({ exitCode, timedOut, limit }: NonNullable<NonNullable<Task['result']>['validation']>): string =>
  timedOut ? 'ran out of time' : limit === null ? `exit code ${exitCode ?? 'unknown'}` : `stopped by the limit ${limit}`;

/** Stages that ran something of the repository, or were stopped by something; the last validation stands over them. */
const hooksOf = ({ stages }: Attempt): readonly Stage[] => {
  const last = stages.findLast(({ name }) => name === 'validate');
  return stages.filter((stage) => {
    if (stage === last && stage.state !== 'running') return false;
    return ['init', 'before', 'validate', 'goal', 'output', 'after'].includes(stage.name) && stage.state !== 'skipped';
  });
};

const Hook = ({ stage }: { readonly stage: Stage }) => (
  <Check
    name={
      stage.name === 'validate'
        ? `validation, round ${stage.round}`
        : stage.round > 1
          ? `${stage.name} ${stage.round}`
          : stage.name
    }
    passed={stage.state === 'passed' ? true : stage.state === 'running' ? null : false}
    open={stage.state !== 'passed' && stage.state !== 'running' && stage.name !== 'validate'}
    note={stage.note ?? stage.state}
    output={stage.output ?? ''}
  />
);

type CheckProps = {
  readonly name: string;
  /** Null: it goes on. */
  readonly passed: boolean | null;
  readonly open: boolean;
  readonly note: string;
  readonly output: string;
};

const Check = ({ name, passed, open, note, output }: CheckProps) => {
  const head = (
    <>
      <span className={passed === null ? 'text-accent' : passed ? 'text-good' : 'text-bad'}>
        {passed === null ? '●' : passed ? '✓' : '✗'} {name}
      </span>{' '}
      <span className="said text-quiet">{note}</span>
    </>
  );
  if (output.trim() === '') return <p className="py-0.5">{head}</p>;
  return (
    <details open={open} className="py-0.5">
      <summary className="cursor-pointer">{head}</summary>
      <pre tabIndex={0} aria-label={`Output of ${name}`} className="said max-h-72 overflow-auto rounded bg-raised p-2 font-mono">
        {withoutStyles(output).trimEnd().split('\n').map(visible).join('\n')}
      </pre>
    </details>
  );
};
