import { Link } from '@tanstack/react-router';
import { Ago } from '../parts/ago.tsx';
import { Button } from '../parts/button.tsx';
import { State } from '../parts/states.tsx';
import type { Waits } from './waits.ts';

/** One thing that is to be looked at: what it is, why, where to, and out of the way. */
export const Line = ({ waits, aside }: { readonly waits: Waits; readonly aside: () => void }) => (
  <li className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1.5">
    <span className="w-24">
      <State state={waits.state} />
    </span>
    <Link
      data-row=""
      to={waits.kind === 'task' ? '/tasks/$name' : '/sessions/$name'}
      params={{ name: waits.id }}
      className="said min-w-56 flex-1 font-semibold hover:underline"
    >
      {waits.name}
    </Link>
    <span className="ml-auto inline-flex items-baseline gap-3">
      {waits.review ? (
        <Link to="/tasks/$name/changes" params={{ name: waits.id }} className="text-accent underline">
          Review
        </Link>
      ) : null}
      <Button aria-label={`Put aside: ${waits.name}`} onClick={aside}>
        Put aside
      </Button>
      <Ago at={waits.at} />
    </span>
    <span className="said w-full text-quiet sm:pl-27">{waits.why}</span>
  </li>
);
