import type { SessionView } from '@orrery/protocol';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCommands } from '../commands/use-commands.ts';
import { Button } from '../parts/button.tsx';
import type { Row } from '../state/transcript.ts';
import { Beside, Plan } from './beside.tsx';
import { Settings } from './settings.tsx';
import { Usage } from './usage.tsx';
import { workInShort, workOf } from './work.ts';

const Checkpoints = lazy(async () => ({ default: (await import('./checkpoints.tsx')).Checkpoints }));

type BarProps = { readonly session: SessionView; readonly rows: readonly Row[] };

/** How a session works, what it took, and what goes on beside its words. */
export const SessionBar = ({ session, rows }: BarProps) => {
  const [shown, setShown] = useState(false);
  const [unfolded, unfold] = useState(false);
  useCommands([
    { id: 'checkpoints', does: 'show the checkpoints of this session', group: 'Do', keys: 'h', run: () => setShown(true) },
  ]);
  return (
    <div className="border-b border-line py-1.5">
      {/* On a phone the words have the room; what is set is a touch away. */}
      <Button className="sm:hidden" aria-expanded={unfolded} onClick={() => unfold(!unfolded)}>
        {session.effectiveModel ?? session.model ?? session.harness} · {session.mode} …
      </Button>
      <div className={`${unfolded ? 'flex' : 'hidden'} flex-wrap items-baseline gap-x-4 gap-y-1 sm:flex`}>
        <Settings session={session} />
        <Usage session={session} />
        <button type="button" className="cursor-pointer text-accent underline" onClick={() => setShown(true)}>
          Checkpoints
        </button>
        <WorkOf rows={rows} />
      </div>
      {shown ? (
        <Suspense fallback={null}>
          <Checkpoints session={session} close={() => setShown(false)} />
        </Suspense>
      ) : null}
    </div>
  );
};

/** Plan, sub-agents and background commands, folded until they are asked for. */
const WorkOf = ({ rows }: Pick<BarProps, 'rows'>) => {
  const work = useMemo(() => workOf(rows), [rows]);
  const short = workInShort(work);
  if (short === null) return null;
  return (
    <details className="open:w-full">
      <summary className="cursor-pointer text-quiet">{short}</summary>
      <div className="max-h-48 overflow-y-auto py-1" tabIndex={0} role="group" aria-label="Plan and work beside">
        {work.plan.length === 0 ? null : <Plan entries={work.plan} />}
        {work.beside.map((side) => (
          <Beside key={`${side.kind} ${side.row}`} side={side} />
        ))}
      </div>
    </details>
  );
};
