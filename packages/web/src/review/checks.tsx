import type { Attempt, Stage, Task } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';
import { visible } from './inert.ts';

/** What the repository's own scripts said, beside the change: those of the newest attempt. */
export const Checks = ({ task }: { readonly task: Task }) => {
  const { data, error } = useQuery({
    queryKey: ['attempts', task.id],
    queryFn: () => node.call('taskAttempts', { params: { id: task.id } }),
  });
  if (error !== null) return <Failed error={error} />;
  const newest = data?.items.at(-1);
  const validation = task.result?.validation ?? null;
  return (
    <section aria-label="Checks" className="mt-3 border-t border-line pt-2">
      <h2 className="px-2 font-semibold">Checks</h2>
      {validation === null ? (
        <p className="px-2 text-quiet">No validation script checked this result.</p>
      ) : (
        <Check name="validation" passed={validation.passed} note={endOf(validation)} output={validation.output} />
      )}
      {newest === undefined ? null : hooksOf(newest).map((stage) => <Hook key={`${stage.name} ${stage.round}`} stage={stage} />)}
    </section>
  );
};

const endOf = ({ exitCode, timedOut, limit }: NonNullable<NonNullable<Task['result']>['validation']>): string =>
  timedOut ? 'ran out of time' : limit === null ? `exit code ${exitCode ?? 'unknown'}` : `stopped by the limit ${limit}`;

/** Stages that ran something of the repository, or were stopped by something; the last validation stands over them. */
const hooksOf = ({ stages }: Attempt): readonly Stage[] => {
  const last = stages.findLast(({ name }) => name === 'validate');
  return stages.filter((stage) => {
    if (stage === last) return false;
    return ['init', 'before', 'validate', 'goal', 'output', 'after'].includes(stage.name) && stage.state !== 'skipped';
  });
};

const Hook = ({ stage }: { readonly stage: Stage }) => (
  <Check
    name={stage.round > 1 ? `${stage.name} ${stage.round}` : stage.name}
    passed={stage.state === 'passed'}
    note={stage.note ?? stage.state}
    output={stage.output ?? ''}
  />
);

type CheckProps = { readonly name: string; readonly passed: boolean; readonly note: string; readonly output: string };

const Check = ({ name, passed, note, output }: CheckProps) => {
  const head = (
    <>
      <span className={passed ? 'text-good' : 'text-bad'}>
        {passed ? '✓' : '✗'} {name}
      </span>{' '}
      <span className="said text-quiet">{note}</span>
    </>
  );
  if (output.trim() === '') return <p className="px-2 py-0.5">{head}</p>;
  return (
    <details open={!passed} className="px-2 py-0.5">
      <summary className="cursor-pointer">{head}</summary>
      <pre tabIndex={0} aria-label={`Output of ${name}`} className="said max-h-72 overflow-auto rounded bg-raised p-2 font-mono">
        {output.trimEnd().split('\n').map(visible).join('\n')}
      </pre>
    </details>
  );
};
